import { createPostgresBackend } from 'bullmq'
import type { Pool } from 'pg'

/** Renews the locks whose rows are not locked by another transaction, and skips the others. */
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
 * Makes BullMQ's PostgreSQL back end, with a renewal of a worker's locks that cannot deadlock.
 *
 * BullMQ renews all locks of a worker in one statement, and its check for stalled jobs updates all active jobs in
 * another, in a different order: each may hold rows that the other waits for, until PostgreSQL aborts one of them after
 * a second. In that second no job is taken or completed. A statement that never waits while it holds a row cannot take
 * part in a deadlock.
 *
 * @param pool its connections find BullMQ's tables without a schema name
 */
export function postgresQueueBackend(pool: Pool): typeof createPostgresBackend {
  return (queueName, ...options) => {
    const backend = createPostgresBackend(queueName, ...options)
    backend.extendLocks = async (jobIds, tokens, duration) => {
      const { rows } = await pool.query<{ id: string }>(renewFree, [queueName, jobIds, tokens, Date.now() + duration])
      const renewed = new Set(rows.map(({ id }) => id))
      const lost: string[] = []
      for (const [index, id] of jobIds.entries()) {
        // Another worker has taken the job, or the check for stalled jobs holds its row. Waiting for one row is
        // harmless.
        if (!renewed.has(id) && (await backend.extendLock(id, tokens[index]!, duration)) !== 1) lost.push(id)
      }
      return lost
    }
    return backend
  }
}
