import { closedObject } from '../../schema.ts'
import { table, toTable } from '../../models/table.ts'
import { operation } from '../../rpc/operation.ts'
import { countStale } from '../../store/bot-tables.ts'
import { existingTable } from '../../tables/bot-table.ts'
import { rowCounts } from '../../tables/table-output.ts'
import { tableReference } from '../../tables/table-input.ts'

export const getTable = operation({
  name: 'getTable',
  description: 'Gives a table, with the number of its rows.',
  method: 'GET',
  path: '/v1/tables/{table}',
  access: 'bot',
  input: closedObject({ table: tableReference }),
  output: closedObject({ table, ...rowCounts }),

  async handle(context, { table }) {
    const row = await existingTable(context, table)
    return { table: toTable(row), rows: row.row_count, stale: await countStale(context.db, row.id), indexing: 0 }
  },
})
