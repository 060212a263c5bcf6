import { ApiError, isOutage } from '#shared/errors.ts'
import { InterruptedError } from '#shared/queue/queue.ts'
import {
  claimTableJob,
  completeTableJob,
  failTableJob,
  releaseTableJob,
  StaleRunError,
} from '#shared/store/table-jobs.ts'
import type { WorkerContext } from '../context.ts'
import { exportRows } from '../tables/export-rows.ts'
import { importRows } from '../tables/import-rows.ts'
import { UnreadableFileError } from '../tables/unreadable-file.ts'

/** Runs of a job that may begin without any progress before it is given up. */
const maxAttempts = 3

/**
 * Imports or exports a table. The job's row says what to do, and what is done: an interrupted run is continued by
 * another one.
 *
 * @throws InterruptedError when a run failed and another one follows
 */
export async function runTableJob(worker: WorkerContext, id: string): Promise<void> {
  const { db, log, queue } = worker
  const job = await claimTableJob(db, id)
  if (!job) return
  if (job.attempts > maxAttempts) return failTableJob(db, job, 'The job was interrupted several times')
  try {
    if (job.type === 'export') await exportRows(worker, job)
    else if (await importRows(worker, job)) await completeTableJob(db, job)
    else await queue.wake('table-job', id, job.bot_id)
  } catch (error) {
    if (error instanceof StaleRunError) return
    if (error instanceof UnreadableFileError) return failTableJob(db, job, error.message)
    if (isOutage(error)) {
      await releaseTableJob(db, job)
      throw error
    }
    if (error instanceof ApiError && error.status < 500) return failTableJob(db, job, error.message)
    log.warn({ err: error, tableJobId: id, attempt: job.attempts }, 'A job of a table failed')
    if (job.attempts >= maxAttempts) return failTableJob(db, job, 'The job failed several times: ask the operator')
    throw new InterruptedError(`The job ${id} failed: ${String(error)}`)
  }
}
