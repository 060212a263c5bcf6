import { expect, test } from 'vitest'
import { addCounts, percentile, stepOf, type LatencyHistogram } from '#shared/telemetry/latency-histogram.ts'

const counted = (durations: number[]): LatencyHistogram => addCounts(durations.map((each) => ({ [stepOf(each)]: 1 })))

test('percentiles of counted durations are right to about an eighth, however large the durations are', () => {
  for (const unit of [2, 90, 4000, 300_000]) {
    const durations = Array.from({ length: 1000 }, (_none, index) => unit * (1 + index / 1000))
    for (const share of [0.5, 0.95]) {
      const told = percentile(counted(durations), share)!
      const exact = durations[1000 * share]!
      expect(Math.abs(told - exact) / exact).toBeLessThan(0.125)
    }
  }
})

test('the rare slow ones are above the median and in the last percentiles', () => {
  const durations = [...Array.from({ length: 99 }, () => 10), 5000]
  expect(percentile(counted(durations), 0.5)).toBeLessThan(12)
  expect(percentile(counted(durations), 1)).toBeGreaterThan(4000)
})

test('no durations have no percentile, and durations that cannot be count as the shortest', () => {
  expect(percentile({}, 0.5)).toBe(null)
  expect([-1, Number.NaN, 0, 0.9].map(stepOf)).toEqual([0, 0, 0, 0])
  expect(stepOf(Infinity)).toBe(stepOf(1e9))
})
