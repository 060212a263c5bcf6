import { createPostgresBackend } from 'bullmq'
import type { Pool } from 'pg'
import type { DatabaseClock } from '../connectivity/dependencies.ts'

/** The present time of PostgreSQL, as BullMQ stores times. */
const now = '(extract(epoch from clock_timestamp()) * 1000)::bigint'

/** Renews the locks whose rows are not locked by another transaction, and skips the others. */
const renewFree = `
  with free as (
    select job.queue, job.id
    from job join unnest($2::text[], $3::text[]) as wanted (id, token) on wanted.id = job.id and wanted.token = job.lock_token
    where job.queue = $1 and job.state = 'active'
    for update of job skip locked
  )
  update job set locked_until_ms = ${now} + $4 from free where job.queue = free.queue and job.id = free.id
  returning job.id`

/**
 * Corrects times in the future, which a clock that was ahead has left: the end of a lock, and the time of the last check
 * for stalled jobs. Until these times, jobs of dead workers would not be found. Workers with a longer
 * `WORKER_LOCK_SECONDS`, for instance during its change, keep their locks.
 */
const forgetFuture = `
  with late as (
    select queue, id from job
    where queue = $1 and state = 'active' and locked_until_ms > ${now} + $2 * 10
    for update skip locked
  ), corrected as (
    update job set locked_until_ms = ${now} + $2 from late where job.queue = late.queue and job.id = late.id
  )
  delete from meta where queue = $1 and field = 'stalled-check' and value::bigint > ${now} + $3`

const takeStalled = `select id from move_stalled_jobs_to_wait($1, $2, ${now}, $3) as stalled (id)`

/**
 * The longest wait for a job. After a failed wait BullMQ would wait for an hour; a job whose notification was lost meanwhile would
 * wait as long, and nothing would show that the worker gets none.
 */
const maxWaitSeconds = 5

interface LockOptions {
  lockDuration: number
  maxStalledCount: number
  stalledInterval: number
}

/**
 * Makes BullMQ's PostgreSQL back end, with locks by the clock of PostgreSQL, and a renewal of a worker's locks that cannot
 * deadlock; it waits for a job for a few seconds at most.
 *
 * BullMQ stores the end of a lock by the clock of the process that takes the job, and compares it with the clock of the
 * one that looks for stalled jobs. Of two workers whose clocks differ, one takes all long jobs of the other over; and
 * after the death of the one whose clock is ahead, its jobs stay locked, and no worker looks for stalled ones, until
 * the clocks of the others reach its times.
 *
 * BullMQ renews all locks of a worker in one statement, and its check for stalled jobs updates all active jobs in
 * another, in a different order: each may hold rows that the other waits for, until PostgreSQL aborts one of them after
 * a second. In that second no job is taken or completed. A statement that never waits while it holds a row cannot take
 * part in a deadlock.
 *
 * @param pool its connections find BullMQ's tables without a schema name
 */
export function postgresQueueBackend(pool: Pool, clock: DatabaseClock): typeof createPostgresBackend {
  /** The duration with which a lock that begins by this machine's clock ends by PostgreSQL's. */
  const byOwnClock = (duration: number) => duration + Math.round(clock.clockDifference())
  return (queueName, given, ...further) => {
    const { lockDuration, maxStalledCount, stalledInterval } = given as typeof given & LockOptions
    const options = {
      ...given,
      // BullMQ reads it whenever it takes a job.
      get lockDuration() {
        return byOwnClock(lockDuration)
      },
    }
    const backend = createPostgresBackend(queueName, options, ...further)
    const { extendLock, waitForJob } = backend
    backend.waitForJob = (seconds) => waitForJob.call(backend, Math.min(seconds, maxWaitSeconds))
    backend.extendLock = (id, token, duration) => extendLock.call(backend, id, token, byOwnClock(duration))
    backend.extendLocks = async (jobIds, tokens, duration) => {
      const { rows } = await pool.query<{ id: string }>(renewFree, [queueName, jobIds, tokens, duration])
      const renewed = new Set(rows.map(({ id }) => id))
      const lost: string[] = []
      for (const [index, id] of jobIds.entries()) {
        // Another worker has taken the job, or the check for stalled jobs holds its row. Waiting for one row is
        // harmless.
        if (!renewed.has(id) && (await backend.extendLock(id, tokens[index]!, duration)) !== 1) lost.push(id)
      }
      return lost
    }
    backend.moveStalledJobsToWait = async () => {
      await pool.query(forgetFuture, [queueName, lockDuration, stalledInterval])
      const { rows } = await pool.query<{ id: string }>(takeStalled, [queueName, maxStalledCount, stalledInterval])
      return rows.map(({ id }) => id)
    }
    return backend
  }
}
