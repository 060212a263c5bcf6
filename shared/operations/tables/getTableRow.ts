import { closedObject } from '../../schema.ts'
import { notFound } from '../../errors.ts'
import { tableRow } from '../../models/table.ts'
import { operation } from '../../rpc/operation.ts'
import { readRows } from '../../store/table-rows.ts'
import { existingTable } from '../../tables/bot-table.ts'
import { RowReader } from '../../tables/row.ts'
import { tableReference } from '../../tables/table-input.ts'

export const getTableRow = operation({
  name: 'getTableRow',
  description: 'Gives a row of a table.',
  method: 'GET',
  path: '/v1/tables/{table}/row',
  access: 'bot',
  input: closedObject({ table: tableReference, id: { type: 'integer', minimum: 1, maximum: 2_147_483_647 } }),
  output: closedObject({ row: tableRow }),

  async handle(context, { table, id }) {
    const { id: tableId, columns } = await existingTable(context, table)
    const [row] = await readRows(context.db, tableId, [id])
    if (!row) throw notFound(`Row ${id}`)
    return { row: new RowReader(columns).toRow(row) }
  },
})
