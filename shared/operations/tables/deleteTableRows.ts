import { closedObject } from '../../schema.ts'
import { ApiError } from '../../errors.ts'
import { maxRows } from '../../models/table.ts'
import { once } from '../../rpc/journal.ts'
import { operation } from '../../rpc/operation.ts'
import { deleteAllRows, deleteRows } from '../../store/table-rows.ts'
import { existingTable, inTransaction } from '../../tables/bot-table.ts'
import { tableReference } from '../../tables/table-input.ts'
import { maxRowId } from '../../tables/write-rows.ts'

export const deleteTableRows = operation({
  name: 'deleteTableRows',
  description: 'Deletes rows by their ids, or all rows of a table.',
  method: 'POST',
  path: '/v1/tables/{table}/rows/delete',
  access: 'bot',
  input: closedObject(
    { table: tableReference },
    {
      ids: { type: 'array', maxItems: maxRows, items: { type: 'integer', minimum: 1, maximum: maxRowId } },
      deleteAllRows: { type: 'boolean' },
    },
  ),
  output: closedObject({ deletedRows: { type: 'integer' } }),

  async handle(context, input) {
    const { table, ids, deleteAllRows: isAll = false } = input
    if ((ids !== undefined) === isAll) {
      throw new ApiError('InvalidPayload', 'Give exactly one of `ids` and `deleteAllRows`')
    }
    const deletedRows = await once(context, input, (db) =>
      inTransaction(db, async (db) => {
        const { id } = await existingTable(context, table, { db, isLocked: true })
        return ids ? deleteRows(db, id, ids) : deleteAllRows(db, id)
      }),
    )
    return { deletedRows }
  },
})
