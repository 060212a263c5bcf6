import { closedObject } from '../../schema.ts'
import { table, toTable } from '../../models/table.ts'
import { tags } from '../../models/tags.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfTables } from '../../store/bot-tables.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'
import { ownerOf } from '../../tables/bot-table.ts'

/** Clients of the public API expect all tables in one page, and a bot has 100 unless the operator allows more. */
const tablesOfPage = 1000

export const listTables = operation({
  name: 'listTables',
  description:
    'Lists the tables of the bot, the oldest first; those with all given tags. Their definitions have at most 1 MB in a page.',
  method: 'GET',
  path: '/v1/tables',
  access: 'bot',
  input: closedObject({}, { tags, nextToken: pageInput.nextToken }),
  output: closedObject({ tables: { type: 'array', items: table }, meta: pageMeta }),

  async handle(context, { tags = {}, ...input }) {
    const request = { ...pageRequest(input), limit: tablesOfPage }
    const page = await pageOfTables(context.db, await ownerOf(context, context.db), tags, request)
    return { tables: page.rows.map(toTable), meta: toMeta(page) }
  },
})
