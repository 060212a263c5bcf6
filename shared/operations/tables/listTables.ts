import { closedObject } from '../../schema.ts'
import { table, toTable } from '../../models/table.ts'
import { tags } from '../../models/tags.ts'
import { operation } from '../../rpc/operation.ts'
import { listTables as list } from '../../store/bot-tables.ts'
import { ownerOf } from '../../tables/bot-table.ts'

export const listTables = operation({
  name: 'listTables',
  description: 'Lists the tables of the bot, the oldest first; those with all given tags.',
  method: 'GET',
  path: '/v1/tables',
  access: 'bot',
  input: closedObject({}, { tags }),
  output: closedObject({ tables: { type: 'array', items: table } }),

  async handle(context, { tags = {} }) {
    const rows = await list(context.db, await ownerOf(context, context.db), tags)
    return { tables: rows.map(toTable) }
  },
})
