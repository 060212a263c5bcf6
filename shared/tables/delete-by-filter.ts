import type { Database } from '../store/database.ts'
import { deleteRowsBetween, deleteSomeRows, withinTime } from '../store/table-queries.ts'
import { rangesOf } from '../store/table-rows.ts'
import { compileFilter } from './filter.ts'
import type { ReadTable } from './find-rows.ts'

/** Rows that are looked for in the whole table. */
const batchSize = 1000

/**
 * Deletes the rows that pass a filter, in batches. In a transaction all of them go or none; outside of one, each batch
 * is a transaction, and a process that ends leaves the rest.
 *
 * @param filter as the caller sent it
 * @returns the number of deleted rows
 * @throws ApiError `InvalidQuery` when the filter does not fit the table, `LimitExceeded` when a batch takes too long
 */
export async function deleteByFilter(
  db: Database,
  { id: tableId, columns }: ReadTable,
  filter: unknown,
): Promise<number> {
  const where = compileFilter(columns, filter)
  // A few rows are found by an index. To find the next ones among many, PostgreSQL would look at all those again that are
  // deleted or do not pass, so the rest goes by ids.
  let deletedRows = await withinTime(db, (transaction) => deleteSomeRows(transaction, { tableId, where }, batchSize))
  if (deletedRows < batchSize) return deletedRows
  for await (const range of rangesOf(db, tableId)) {
    deletedRows += await withinTime(db, (transaction) => deleteRowsBetween(transaction, { tableId, where }, range))
  }
  return deletedRows
}
