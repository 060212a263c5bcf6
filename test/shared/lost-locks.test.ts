import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openJobWorker } from '#shared/job-worker.ts'
import { createLogger } from '#shared/logger.ts'
import { PutBackError, type AnyJob } from '#shared/queue.ts'
import { loseLocks } from '../job-locks.ts'
import { backEnds, openPlatform, type Platform } from '../platform.ts'

/** With so many, each renewal meets some that just go back. */
const many = 300
const patience = { timeout: 10_000, interval: 20 }

describe.each(backEnds)('on %s', (backEnd) => {
  let platform: Platform
  beforeEach(async () => {
    platform = await openPlatform({ backEnd, worker: false })
  })
  afterEach(() => platform[Symbol.asyncDispose]())

  /** Takes jobs until it is disposed, and keeps what is logged meanwhile. */
  function openWorker(lockMilliseconds: number, work: (job: AnyJob) => Promise<void>) {
    const lines: { msg: string; jobIds?: string[] }[] = []
    const log = createLogger('test', 'warn', { destination: { write: (line) => void lines.push(JSON.parse(line)) } })
    const options = { concurrency: many, lockMilliseconds, stalledMilliseconds: 60_000 }
    const jobs = openJobWorker({ ...platform.context, log }, options, work)
    return { lines, [Symbol.asyncDispose]: () => jobs.close() }
  }

  async function wakeMany(count: number): Promise<void> {
    const wakes = Array.from({ length: count }, (_, index) =>
      platform.context.queue.wake('event', `box-${index}`, 'bot'),
    )
    await Promise.all(wakes)
  }

  test('a job that goes back into the queue while its lock is renewed is nothing to tell of', async () => {
    let putBacks = 0
    await wakeMany(many)
    // Renewed when a job has had its lock for half a second.
    await using worker = openWorker(2000, async () => {
      await delay(500 + Math.random() * 300)
      putBacks += 1
      if (putBacks < 5 * many) throw new PutBackError(200)
    })
    await vi.waitFor(() => expect(putBacks).toBeGreaterThanOrEqual(5 * many), { timeout: 30_000, interval: 20 })
    expect(worker.lines).toEqual([])
  }, 60_000)

  test('a job under way that has lost its lock is told of', async () => {
    const end = Promise.withResolvers<void>()
    const taken: AnyJob[] = []
    await wakeMany(1)
    await using worker = openWorker(400, async (job) => {
      taken.push(job)
      await end.promise
    })
    try {
      await vi.waitFor(() => expect(taken).toHaveLength(1), patience)
      await loseLocks(platform)
      const told = {
        msg: 'The locks of jobs under way ran out: another worker takes them over',
        jobIds: [expect.any(String)],
      }
      await vi.waitFor(() => expect(worker.lines).toContainEqual(expect.objectContaining(told)), patience)
    } finally {
      end.resolve()
    }
  })
})
