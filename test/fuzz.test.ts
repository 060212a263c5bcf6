import { expect, test } from 'vitest'
import { describeReport, isClean } from './fuzz/report.ts'
import { runFuzz } from './fuzz/run.ts'

/** The short form of `npm run fuzz`. */
test('for any request of any caller: no answer is a failure, none is missing, none contains rows of another tenant', async () => {
  await using parts = new AsyncDisposableStack()
  const report = await runFuzz(
    {
      backEnd: 'postgres',
      seed: 7,
      requests: 1000,
      flows: 20,
      matrixStep: 4,
      concurrency: 8,
      maxMilliseconds: 60_000,
      settings: { fsync: 'off', full_page_writes: 'off' },
      environment: {},
    },
    parts,
  )
  expect(isClean(report) ? '' : describeReport(report)).toBe('')
  // A platform that refuses everything has no faults either.
  expect(report.succeeded.size).toBeGreaterThan(40)
  expect(report.flows.events.get('processed') ?? 0).toBeGreaterThan(20)
}, 180_000)
