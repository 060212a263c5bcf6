import { closedObject } from '../../schema.ts'
import { compile, describeErrors } from '../../schema.ts'
import { ApiError } from '../../errors.ts'
import { table, toTable } from '../../models/table.ts'
import { once } from '../../rpc/journal.ts'
import { operation } from '../../rpc/operation.ts'
import { countStale, findTable } from '../../store/bot-tables.ts'
import { existingTable, ownerOf } from '../../tables/bot-table.ts'
import { createTableIn } from '../../tables/create-table.ts'
import { newTableFields, schemaInput, tableName, tableReference } from '../../tables/table-input.ts'
import { rowCounts } from '../../tables/table-output.ts'

const isNamed = compile(closedObject({ table: tableName }), 'body')

export const getOrCreateTable = operation({
  name: 'getOrCreateTable',
  description: 'Gives a table, and creates it first where there is none. A table that exists is not changed.',
  method: 'POST',
  path: '/v1/tables/{table}',
  access: 'bot',
  recordsMembers: true,
  errors: ['InvalidJsonSchema', 'LimitExceeded', 'QuotaExceeded'],
  input: closedObject({ table: tableReference, schema: schemaInput }, newTableFields),
  output: closedObject({ table, created: { type: 'boolean' }, ...rowCounts }),

  async handle(context, input) {
    return once(context, input, async (db) => {
      const found = await findTable(db, await ownerOf(context, db), input.table)
      if (found) return answer(found, false, await countStale(db, found.id))
      if (!isNamed({ table: input.table })) throw new ApiError('InvalidPayload', describeErrors(isNamed))
      const created = await createTableIn(context, db, { ...input, name: input.table })
      // Another request has created it meanwhile.
      return created ? answer(created, true, 0) : answer(await existingTable(context, input.table, { db }), false, 0)
    })
  },
})

function answer(row: Parameters<typeof toTable>[0], created: boolean, stale: number) {
  return { table: toTable(row), created, rows: row.row_count, stale, indexing: 0 }
}
