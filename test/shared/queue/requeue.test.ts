import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openJobWorker } from '#shared/queue/job-worker.ts'
import { RequeueError } from '#shared/queue/queue.ts'
import { backEnds, openPlatform, type Platform } from '../../support/platform.ts'

const options = { concurrency: 2, lockMilliseconds: 30_000, stalledMilliseconds: 60_000 }

describe.each(backEnds)('on %s', (backEnd) => {
  let platform: Platform
  beforeAll(async () => {
    platform = await openPlatform({ backEnd, worker: false })
  })
  afterAll(() => platform[Symbol.asyncDispose]())

  // Many wake-ups of one bot have several priorities.
  test.each([4, 60])('jobs that are requeued go behind the others: each of %i is taken', async (count) => {
    const { queue } = platform.context
    const mailboxes = Array.from({ length: count }, (_, index) => `${count}-${index}`)
    for (const mailbox of mailboxes) await queue.wake('event', mailbox, 'bot')
    const taken = new Set<string>()
    const jobs = openJobWorker(platform.context, options, async ({ data }) => {
      taken.add((data as { mailbox: string }).mailbox)
      if (taken.size < count) throw new RequeueError()
    })
    try {
      await expect.poll(() => taken.size, { timeout: 30_000 }).toBe(count)
      await expect.poll(() => queue.counts(), { timeout: 30_000 }).toMatchObject({ waiting: 0, active: 0 })
    } finally {
      await jobs.close()
    }
  })
})
