import { isNotFound, isOutage } from '../errors.ts'
import { maxRows, type TableRow } from '../models/table.ts'
import type { BotContext } from '../rpc/caller.ts'
import { once } from '../rpc/journal.ts'
import { inStoredOrder } from '../rpc/stored-order.ts'
import type { BotTableRow } from '../models/tables.ts'
import { JsonList } from '../json/json-list.ts'
import { wakeWorker } from '../signals/after-commit.ts'
import { assertQuota, existingTable } from './bot-table.ts'
import { megabyte } from '../units.ts'
import { computeAndWait, maxAwaited } from './compute-and-wait.ts'
import { tableReference } from './table-input.ts'
import type { WriteReport } from './row-report.ts'
import { RowWriter } from './write-rows.ts'

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

/** Whether the answer has the computed values of up to ten rows. */
export const waitComputed = { type: 'boolean' } as const

/** The outcome of a write, with rows in the form of an answer. */
type Written = Omit<WriteReport, 'inserted' | 'updated'> & { inserted: TableRow[]; updated: TableRow[] }

/**
 * Writes rows to a table, within its bot's quota, in one transaction. Has a worker compute the values that are out of
 * date thereafter.
 *
 * @param input of the operation
 * @param write is called with the locked table
 */
export async function writeToTable(
  context: BotContext,
  input: { table: string; waitComputed?: boolean | undefined },
  write: (writer: RowWriter, table: BotTableRow) => Promise<WriteReport>,
): Promise<Written> {
  const isForRun = context.caller.execution !== undefined
  const { tableId, hasStale, report } = await once(context, input, async (db) => {
    const table = await existingTable(context, input.table, { db, isLocked: true })
    const writer = new RowWriter(db, table, { holdAnswer: context.holdAnswer, isForRun })
    const report = await write(writer, table)
    if (report.inserted.length > 0) await assertQuota(context, db)
    return { tableId: table.id, hasStale: writer.hasStale && table.is_compute_enabled, report }
  })
  const { inserted, updated, ...others } = report
  const written = { ...others, inserted: toArray(inserted), updated: toArray(updated) }
  if (!hasStale) return written
  if (!input.waitComputed || inserted.length + updated.length > maxAwaited) {
    await wakeWorker(context, 'recompute-rows', tableId, context.caller.botId)
    return written
  }
  const [ofInserted, ofUpdated] = [rowsOf(inserted), rowsOf(updated)]
  const ids = [...ofInserted, ...ofUpdated].map(({ id }) => id)
  const rows = await computeAndWait(context, tableId, ids).catch((error: unknown) => {
    // The rows are stored: a caller that learns of a failure would write them again. The table may be deleted since.
    if (isOutage(error) || isNotFound(error)) return undefined
    throw error
  })
  if (!rows) return written
  // A row that is deleted since is answered as it was written.
  const reread = (former: TableRow[]) =>
    former.map((row) => {
      const current = rows.get(row.id) ?? row
      return isForRun ? inStoredOrder(current) : current
    })
  return { ...written, inserted: reread(ofInserted), updated: reread(ofUpdated) }
}

type Rows = WriteReport['inserted']

/** @param rows a list, or the array that the journal has of one */
function toArray(rows: Rows | TableRow[]): TableRow[] {
  return rows instanceof JsonList ? rows.asArray() : rows
}

function rowsOf(rows: Rows | TableRow[]): TableRow[] {
  return rows instanceof JsonList ? rows.toJSON() : rows
}
