import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Context } from '#shared/context.ts'
import { deleteWorker, recordHeartbeat } from '#shared/store/workers.ts'
import { repeatedly } from './repeatedly.ts'

const heartbeatMilliseconds = 10_000

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

  async function beat(): Promise<void> {
    if (!dependencies.database.isUp()) return
    try {
      await recordHeartbeat(db, { ...worker, inUse: busy() })
    } catch (error) {
      log.warn({ err: error }, 'Heartbeat failed; retrying')
    }
  }

  const first = beat()
  const stop = repeatedly(heartbeatMilliseconds, beat)
  return async () => {
    await first
    await stop()
    if (dependencies.database.isUp()) await deleteWorker(db, worker.id).catch(() => {})
  }
}
