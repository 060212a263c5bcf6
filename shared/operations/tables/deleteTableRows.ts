import { closedObject } from '../../schema.ts'
import { ApiError } from '../../errors.ts'
import { maxRows } from '../../models/table.ts'
import { once } from '../../rpc/journal.ts'
import { operation } from '../../rpc/operation.ts'
import { deleteAllRows, deleteRows } from '../../store/table-rows.ts'
import { existingTable } from '../../tables/bot-table.ts'
import { deleteByFilter } from '../../tables/delete-by-filter.ts'
import { tableReference } from '../../tables/table-input.ts'
import { maxRowId } from '../../tables/write-rows.ts'

export const deleteTableRows = operation({
  name: 'deleteTableRows',
  description: 'Deletes rows by their ids, those that pass a filter, or all rows of a table.',
  method: 'POST',
  path: '/v1/tables/{table}/rows/delete',
  access: 'bot',
  mayTakeLong: true,
  recordsMembers: true,
  errors: ['InvalidQuery', 'LimitExceeded'],
  input: closedObject(
    { table: tableReference },
    {
      ids: { type: 'array', maxItems: maxRows, items: { type: 'integer', minimum: 1, maximum: maxRowId } },
      filter: { type: 'object', description: 'Conditions by column, as of `findTableRows`.' },
      deleteAllRows: { type: 'boolean' },
    },
  ),
  output: closedObject({ deletedRows: { type: 'integer' } }),

  async handle(context, input) {
    const { table, ids, filter, deleteAllRows: isAll = false } = input
    if ([ids !== undefined, filter !== undefined, isAll].filter(Boolean).length !== 1) {
      throw new ApiError('InvalidPayload', 'Give exactly one of `ids`, `filter` and `deleteAllRows`')
    }
    const deletedRows = await once(context, input, async (db) => {
      const { id, columns } = await existingTable(context, table, { db, isLocked: true })
      if (ids) return deleteRows(db, id, ids)
      return filter ? deleteByFilter(db, { id, columns }, filter) : deleteAllRows(db, id)
    })
    return { deletedRows }
  },
})
