import type { Database } from '../store/database.ts'
import { deleteSomeRows, withinTime } from '../store/table-queries.ts'
import { compileFilter } from './filter.ts'
import type { ReadTable } from './find-rows.ts'

/** Rows of one statement, which holds their locks for some 50 ms. */
const batchSize = 1000

/**
 * Deletes the rows that pass a filter, in batches. In a transaction all of them go or none; outside of one, each batch
 * is a transaction, and a process that ends leaves the rest.
 *
 * @param filter as the caller sent it
 * @param onBatch is called with each batch's figures, in its transaction
 * @returns the number of deleted rows
 * @throws ApiError `InvalidQuery` when the filter does not fit the table, `LimitExceeded` when a batch takes too long
 */
export async function deleteByFilter(
  db: Database,
  { id: tableId, columns }: ReadTable,
  filter: unknown,
  onBatch: (db: Database, deleted: { rows: number; bytes: number }) => Promise<void> = async () => {},
): Promise<number> {
  const where = compileFilter(columns, filter)
  let deletedRows = 0
  for (;;) {
    const deleted = await withinTime(db, async (transaction) => {
      const batch = await deleteSomeRows(transaction, { tableId, where }, batchSize)
      await onBatch(transaction, batch)
      return batch
    })
    deletedRows += deleted.rows
    if (deleted.rows < batchSize) return deletedRows
  }
}
