import { expect, test } from 'vitest'
import { faultKinds } from './chaos/faults.ts'
import { describeReport, isClean } from './chaos/report.ts'
import { runChaos } from './chaos/run.ts'
import { backEnds } from './support/platform.ts'

/** The short form of `npm run chaos`: everything goes wrong once, for a bot of flows and for one of hooks. */
test.concurrent.each(backEnds)(
  'on %s, whatever goes wrong, what was acknowledged is answered once, in order, as if nothing had',
  async (backEnd) => {
    await using parts = new AsyncDisposableStack()
    const report = await runChaos(
      {
        backEnd,
        bot: backEnd === 'redis' ? 'flow' : 'text',
        apis: 2,
        workers: 2,
        seed: 7,
        messages: 300,
        conversations: 30,
        faults: faultKinds.length,
        kinds: faultKinds,
        spacingMilliseconds: 1000,
        drainMilliseconds: 120_000,
        settings: { fsync: 'off', full_page_writes: 'off' },
        environment: { WORKER_SWEEP_SECONDS: '2', WORKER_LOCK_SECONDS: '3', WORKER_STALLED_SECONDS: '1' },
      },
      parts,
    )
    expect(isClean(report) ? '' : describeReport(report)).toBe('')
  },
  300_000,
)
