import { closedObject } from '../../schema.ts'
import { once } from '../../rpc/journal.ts'
import { operation } from '../../rpc/operation.ts'
import { deleteTable as remove } from '../../store/bot-tables.ts'
import { deleteAllRows } from '../../store/table-rows.ts'
import { existingTable } from '../../tables/bot-table.ts'
import { tableReference } from '../../tables/table-input.ts'

export const deleteTable = operation({
  name: 'deleteTable',
  description: 'Deletes a table with its rows.',
  method: 'DELETE',
  path: '/v1/tables/{table}',
  access: 'bot',
  mayTakeLong: true,
  recordsMembers: true,
  input: closedObject({ table: tableReference }),
  output: closedObject({}),

  async handle(context, input) {
    await once(context, input, async (db) => {
      const { id } = await existingTable(context, input.table, { db, isLocked: true })
      // In batches, each of which takes less than a statement may.
      await deleteAllRows(db, id)
      await remove(db, id)
      return {}
    })
    return {}
  },
})
