import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'pg'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openJobWorker } from '#shared/queue/job-worker.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { RequeueError, queueName, type AnyJob } from '#shared/queue/queue.ts'
import { postgresQueueBackend } from '#shared/queue/postgres-queue-backend.ts'
import { expireLocks } from '../../support/job-locks.ts'
import { backEnds, openPlatform, type Platform } from '../../support/platform.ts'

/** With so many, each renewal meets some that just go back. */
const many = 300
const patience = { timeout: 10_000, interval: 20 }

/** Has so many mailboxes wait to be looked into. */
async function wake({ context }: Platform, count: number): Promise<void> {
  const mailboxes = Array.from({ length: count }, (_, index) => `box-${index}`)
  await Promise.all(mailboxes.map((mailbox) => context.queue.wake('event', mailbox, 'bot')))
}

describe.each(backEnds)('on %s', (backEnd) => {
  let platform: Platform
  beforeEach(async () => {
    platform = await openPlatform({ backEnd, worker: false })
  })
  afterEach(() => platform[Symbol.asyncDispose]())

  /** Takes jobs until it is disposed, and keeps what is logged meanwhile. */
  function openWorker(lockMilliseconds: number, work: (job: AnyJob) => Promise<void>, stalledMilliseconds = 60_000) {
    const lines: { msg: string; jobIds?: string[] }[] = []
    const log = createLogger('test', 'warn', { destination: { write: (line) => void lines.push(JSON.parse(line)) } })
    const options = { concurrency: many, lockMilliseconds, stalledMilliseconds }
    const jobs = openJobWorker({ ...platform.context, log }, options, work)
    return { lines, [Symbol.asyncDispose]: () => jobs.close() }
  }

  test('a job that is requeued while its lock is renewed is not reported', async () => {
    let requeues = 0
    await wake(platform, many)
    // Renewed when a job has had its lock for two seconds.
    await using worker = openWorker(8000, async () => {
      await delay(2000 + Math.random() * 1200)
      requeues += 1
      if (requeues < 3 * many) throw new RequeueError()
    })
    await vi.waitFor(() => expect(requeues).toBeGreaterThanOrEqual(3 * many), { timeout: 30_000, interval: 20 })
    expect(worker.lines).toEqual([])
  }, 60_000)

  test('a worker that takes a job again which it has just requeued renews its lock', async () => {
    const count = 40
    const end = Promise.withResolvers<void>()
    const takes = new Map<string, number>()
    await wake(platform, count)
    const requeueAtFirst = async ({ data }: AnyJob) => {
      const { mailbox } = data as { mailbox: string }
      const take = (takes.get(mailbox) ?? 0) + 1
      takes.set(mailbox, take)
      if (take <= 20) throw new RequeueError()
      await end.promise
    }
    await using worker = openWorker(1000, requeueAtFirst, 500)
    try {
      const once = Array.from({ length: count }, () => 21)
      await vi.waitFor(() => expect([...takes.values()]).toEqual(once), { timeout: 20_000, interval: 20 })
      // Twice the time after which a search finds a job whose lock is not renewed.
      await delay(2 * (1000 + 500))
      expect([...takes.values()]).toEqual(once)
      expect(worker.lines).toEqual([])
    } finally {
      end.resolve()
    }
  }, 60_000)

  test('a job in flight that has lost its lock is reported', async () => {
    const end = Promise.withResolvers<void>()
    const taken: AnyJob[] = []
    await wake(platform, 1)
    await using worker = openWorker(400, async (job) => {
      taken.push(job)
      await end.promise
    })
    try {
      await vi.waitFor(() => expect(taken).toHaveLength(1), patience)
      await expireLocks(platform)
      const told = {
        msg: 'Locks of running jobs expired; another worker takes the jobs over',
        jobIds: [expect.any(String)],
      }
      await vi.waitFor(() => expect(worker.lines).toContainEqual(expect.objectContaining(told)), patience)
    } finally {
      end.resolve()
    }
  })
})

test('in PostgreSQL, locks are renewed while stalled jobs are searched, and neither blocks the other', async () => {
  await using platform = await openPlatform({ backEnd: 'postgres', worker: false })
  const end = Promise.withResolvers<void>()
  let taken = 0
  const hold = { concurrency: many, lockMilliseconds: 60_000, stalledMilliseconds: 60_000 }
  const jobs = openJobWorker(platform.context, hold, async () => {
    taken += 1
    await end.promise
  })
  const connectionString = platform.environment['DATABASE_URL']!
  const options = '-c search_path=bullmq'
  const pool = new Pool({ connectionString, options })
  const backend = postgresQueueBackend(pool, platform.context.dependencies.database)(queueName, {
    connection: { connectionString, options },
  })
  try {
    await wake(platform, many)
    await vi.waitFor(() => expect(taken).toBe(many), patience)
    const { rows } = await pool.query<{ id: string; token: string }>('select id, lock_token as token from job')
    for (let round = 0; round < 20; round++) {
      const mixed = rows.toSorted(() => Math.random() - 0.5)
      const renewal = backend.extendLocks(
        mixed.map(({ id }) => id),
        mixed.map(({ token }) => token),
        60_000,
      )
      const look = pool.query('select move_stalled_jobs_to_wait($1, 1, $2, 0)', [queueName, Date.now()])
      expect(await Promise.all([renewal, look.then(({ rowCount }) => rowCount)])).toEqual([[], 0])
    }
  } finally {
    end.resolve()
    await jobs.close()
    await backend.close()
    await pool.end()
  }
}, 60_000)
