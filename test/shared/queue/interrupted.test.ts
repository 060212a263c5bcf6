import { describe, expect, test, vi } from 'vitest'
import { openJobWorker } from '#shared/queue/job-worker.ts'
import { InterruptedError } from '#shared/queue/queue.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { backEnds, openPlatform } from '../../support/platform.ts'

describe.each(backEnds)('on %s', (backEnd) => {
  test('a job whose interruption may last starts again at once, and later each time', async () => {
    await using platform = await openPlatform({ backEnd, worker: false })
    const starts: number[] = []
    const options = { concurrency: 1, lockMilliseconds: 60_000, stalledMilliseconds: 60_000 }
    const jobs = openJobWorker({ ...platform.context, log: createLogger('test', 'silent') }, options, async () => {
      starts.push(performance.now())
      throw new InterruptedError('a test', { mayLast: true })
    })
    try {
      await platform.context.queue.wake('event', 'box', 'bot')
      await vi.waitFor(() => expect(starts.length).toBeGreaterThanOrEqual(6), { timeout: 30_000, interval: 20 })
      const pauses = starts.slice(1).map((start, index) => start - starts[index]!)
      for (const [index, pause] of pauses.entries()) expect(pause).toBeGreaterThan(90 * 2 ** index)
    } finally {
      await jobs.close()
    }
  }, 60_000)
})
