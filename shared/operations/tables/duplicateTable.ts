import { closedObject } from '../../schema.ts'
import { ApiError } from '../../errors.ts'
import { newId } from '../../ids.ts'
import { table, toTable } from '../../models/table.ts'
import type { BotTableRow } from '../../models/tables.ts'
import { once } from '../../rpc/journal.ts'
import { operation } from '../../rpc/operation.ts'
import { insertTable, namesOfTables, setNextRowId, setRecomputeDue } from '../../store/bot-tables.ts'
import { wakeWorker } from '../../signals/after-commit.ts'
import type { Database } from '../../store/database.ts'
import { copyRows } from '../../store/table-rows.ts'
import { assertQuota, existingTable, nameTaken } from '../../tables/bot-table.ts'
import { newTableFields, tableName, tableReference } from '../../tables/table-input.ts'

export const duplicateTable = operation({
  name: 'duplicateTable',
  description: 'Creates a table with the columns of another one, and with its rows unless `schemaOnly` is set.',
  method: 'POST',
  path: '/v1/tables/{sourceTableId}/duplicate',
  access: 'bot',
  mayTakeLong: true,
  recordsMembers: true,
  errors: ['AlreadyExists', 'QuotaExceeded', 'RelationConflict'],
  input: closedObject(
    { sourceTableId: tableReference },
    { tableName, schemaOnly: { type: 'boolean' }, factor: newTableFields.factor },
  ),
  output: closedObject({ table, rows: { type: 'integer' } }),

  async handle(context, input) {
    const { sourceTableId, schemaOnly = false } = input
    const { isDue, ...answer } = await once(context, input, async (db) => {
      const source = await existingTable(context, sourceTableId, { db, isLocked: true })
      const { factor = source.factor, tableName = await freeName(db, source) } = input
      if (factor < source.factor) {
        throw new ApiError(
          'RelationConflict',
          `The factor of a duplicate is at least that of its source, ${source.factor}`,
        )
      }
      const copy = { ...source, id: newId('table'), name: tableName, factor, is_frozen: false }
      const inserted = await insertTable(db, source.bot_id, copy)
      if (!inserted) throw nameTaken(tableName)
      const rows = schemaOnly ? 0 : await copyRows(db, source.id, inserted.id)
      if (rows > 0) await setNextRowId(db, inserted.id, source.next_row_id)
      const isDue = rows > 0 && source.recompute_due_at !== null
      if (isDue) await setRecomputeDue(db, inserted.id)
      await assertQuota(context, db)
      return { table: toTable(inserted), rows, isDue }
    })
    if (isDue) await wakeWorker(context, 'recompute-rows', answer.table.id, context.caller.botId)
    return answer
  },
})

/** `ordersTable` becomes `ordersCopyTable`, then `ordersCopy2Table`. */
async function freeName(db: Database, { bot_id, name }: BotTableRow): Promise<string> {
  const taken = new Set(await namesOfTables(db, bot_id))
  const stem = name.slice(0, -'Table'.length).slice(0, 35)
  for (let number = 1; ; number++) {
    const free = `${stem}Copy${number === 1 ? '' : number}Table`
    if (!taken.has(free)) return free
  }
}
