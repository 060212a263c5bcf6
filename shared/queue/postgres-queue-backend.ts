import { createPostgresBackend } from 'bullmq'
import type { Pool } from 'pg'

/** Renews those locks that nobody else is busy with, and waits for none. */
const renewFree = `
  with free as (
    select job.queue, job.id
    from job join unnest($2::text[], $3::text[]) as wanted (id, token) on wanted.id = job.id and wanted.token = job.lock_token
    where job.queue = $1 and job.state = 'active'
    for update of job skip locked
  )
  update job set locked_until_ms = $4 from free where job.queue = free.queue and job.id = free.id
  returning job.id`

/**
 * Makes BullMQ's PostgreSQL back end, which renews the locks of a worker without deadlocks.
 *
 * BullMQ renews all locks of a worker in one statement, and its look for stalled jobs marks all active ones in another, in
 * an order of its own: each may hold rows that the other waits for, until PostgreSQL ends one of them after a second.
 * In that second no job is taken or ended. Who never waits while it holds a row cannot be a part of that.
 *
 * @param pool whose connections find BullMQ's tables without a schema
 */
export function postgresQueueBackend(pool: Pool): typeof createPostgresBackend {
  return (queueName, ...options) => {
    const backend = createPostgresBackend(queueName, ...options)
    backend.extendLocks = async (jobIds, tokens, duration) => {
      const { rows } = await pool.query<{ id: string }>(renewFree, [queueName, jobIds, tokens, Date.now() + duration])
      const renewed = new Set(rows.map(({ id }) => id))
      const lost: string[] = []
      for (const [index, id] of jobIds.entries()) {
        // Taken by somebody, or just held by whoever looks for stalled jobs: for one row, to wait is harmless.
        if (!renewed.has(id) && (await backend.extendLock(id, tokens[index]!, duration)) !== 1) lost.push(id)
      }
      return lost
    }
    return backend
  }
}
