import { maxRows } from '../models/table.ts'
import type { BotContext } from '../rpc/caller.ts'
import { once } from '../rpc/journal.ts'
import type { BotTableRow } from '../models/tables.ts'
import { assertQuota, existingTable, inTransaction } from './bot-table.ts'
import { megabyte } from '../units.ts'
import { tableReference } from './table-input.ts'
import { RowWriter, type WriteReport } from './write-rows.ts'

/** Input of an operation that writes rows. */
export const rowsInput = {
  table: tableReference,
  rows: { type: 'array', minItems: 1, maxItems: maxRows, items: { type: 'object' } },
} as const

/** The rows of a call, which are parsed one at a time. Escapes make a text up to six times as long as its row. */
export const largeRows = {
  field: 'rows',
  maxElements: maxRows,
  maxElementBytes: 512 * 1024,
  maxBytes: 40 * megabyte,
} as const

/** Accepted for published clients: no column is computed during a call. */
export const waitComputed = { type: 'boolean' } as const

/**
 * Writes rows to a table, within its bot's quota, in one transaction.
 *
 * @param input of the operation
 * @param write is called with the locked table
 */
export function writeToTable(
  context: BotContext,
  input: { table: string },
  write: (writer: RowWriter, table: BotTableRow) => Promise<WriteReport>,
): Promise<WriteReport> {
  return once(context, input, (db) =>
    inTransaction(db, async (db) => {
      const table = await existingTable(context, input.table, { db, isLocked: true })
      const report = await write(new RowWriter(db, table, { holdAnswer: context.holdAnswer }), table)
      if (report.inserted.length > 0) await assertQuota(context, db)
      return report
    }),
  )
}
