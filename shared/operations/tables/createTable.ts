import { closedObject } from '../../schema.ts'
import { table, toTable } from '../../models/table.ts'
import { once } from '../../rpc/journal.ts'
import { operation } from '../../rpc/operation.ts'
import { nameTaken } from '../../tables/bot-table.ts'
import { createTableIn } from '../../tables/create-table.ts'
import { newTableFields, schemaInput, tableName } from '../../tables/table-input.ts'

export const createTable = operation({
  name: 'createTable',
  description: 'Creates a table.',
  method: 'POST',
  path: '/v1/tables',
  access: 'bot',
  recordsMembers: true,
  errors: ['AlreadyExists', 'InvalidJsonSchema', 'LimitExceeded', 'QuotaExceeded'],
  input: closedObject({ name: tableName, schema: schemaInput }, newTableFields),
  output: closedObject({ table }),

  async handle(context, input) {
    return {
      table: await once(context, input, async (db) => {
        const created = await createTableIn(context, db, input)
        if (!created) throw nameTaken(input.name)
        return toTable(created)
      }),
    }
  },
})
