import { ApiError } from '../errors.ts'
import { newId } from '../ids.ts'
import { toTableJob, type TableJob } from '../models/table-job.ts'
import type { BotContext } from '../rpc/caller.ts'
import { once } from '../rpc/journal.ts'
import { wakeWorker } from '../signals/after-commit.ts'
import type { Database } from '../store/database.ts'
import { countUnfinishedJobs, insertTableJob, type NewTableJob } from '../store/table-jobs.ts'
import { existingTable } from './bot-table.ts'

/** Jobs of one table that have not ended. */
const maxUnfinished = 10

/**
 * Stores a job of a table, and has a worker carry it out.
 *
 * @param input of the operation
 * @param describe the fields of the job beside its table
 * @throws ApiError `ResourceLockedConflict` when too many jobs of the table have not ended
 */
export async function startJob(
  context: BotContext,
  input: { table: string },
  describe: (db: Database) => Promise<Omit<NewTableJob, 'id' | 'bot_id' | 'table_id'>>,
): Promise<TableJob> {
  const job = await once(context, input, async (db) => {
    const { id: tableId, bot_id } = await existingTable(context, input.table, { db, isLocked: true })
    if ((await countUnfinishedJobs(db, tableId)) >= maxUnfinished) {
      throw new ApiError(
        'ResourceLockedConflict',
        `${maxUnfinished} jobs of the table have not ended: wait for one of them (getTableJobs)`,
      )
    }
    return toTableJob(
      await insertTableJob(db, { id: newId('job'), bot_id, table_id: tableId, ...(await describe(db)) }),
    )
  })
  await wakeWorker(context, 'table-job', job.id, job.botId)
  return job
}
