import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Context } from '#shared/context.ts'
import { forgetWorker, tellOfWorker } from '#shared/store/workers.ts'
import { repeatedly } from './repeatedly.ts'

const tellMilliseconds = 10_000

/**
 * Periodically updates this worker's row.
 *
 * @param busy returns the number of slots in use
 * @returns stops the heartbeat, and deletes the row
 */
export function startWorkerHeartbeat(
  { db, config, dependencies, log }: Context,
  busy: () => number,
): () => Promise<void> {
  const worker = { id: randomUUID(), host: hostname(), slots: config.worker.concurrency }

  async function tell(): Promise<void> {
    if (!dependencies.database.isUp()) return
    try {
      await tellOfWorker(db, { ...worker, inUse: busy() })
    } catch (error) {
      log.warn({ err: error }, 'Heartbeat failed; retrying')
    }
  }

  const first = tell()
  const stop = repeatedly(tellMilliseconds, tell)
  return async () => {
    await first
    await stop()
    if (dependencies.database.isUp()) await forgetWorker(db, worker.id).catch(() => {})
  }
}
