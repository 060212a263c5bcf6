/**
 * A histogram with exponential steps, each a quarter longer than the one before: few numbers give the percentiles of
 * any number of durations, and the counts of several processes can be added. Percentiles are accurate to about an
 * eighth.
 */

/** The number of durations by step; empty steps are absent. */
export type LatencyHistogram = Record<string, number>

const ratio = 1.25
/** About 17 minutes; longer durations count in this step. */
const lastStep = 63

/** The step of a duration in milliseconds; step 0 is everything below one millisecond. */
export function stepOf(milliseconds: number): number {
  if (!(milliseconds >= 1)) return 0
  return Math.min(lastStep, 1 + Math.floor(Math.log(milliseconds) / Math.log(ratio)))
}

/**
 * The duration that a share of the counted durations did not exceed, in milliseconds; null for an empty histogram.
 *
 * @param share for instance 0.95
 */
export function percentile(counts: LatencyHistogram, share: number): number | null {
  const steps = Object.entries(counts)
    .map(([step, count]) => [Number(step), count] as const)
    .toSorted(([a], [b]) => a - b)
  const total = steps.reduce((sum, [, count]) => sum + count, 0)
  if (total === 0) return null
  let passed = 0
  for (const [step, count] of steps) {
    passed += count
    if (passed >= total * share) return middleOf(step)
  }
  return null
}

/** The sum of several histograms. */
export function addCounts(all: LatencyHistogram[]): LatencyHistogram {
  const sum: LatencyHistogram = {}
  for (const counts of all) {
    for (const [step, count] of Object.entries(counts)) sum[step] = (sum[step] ?? 0) + count
  }
  return sum
}

function middleOf(step: number): number {
  const milliseconds = step === 0 ? 0.5 : ratio ** (step - 0.5)
  return milliseconds < 100 ? Math.round(milliseconds * 10) / 10 : Math.round(milliseconds)
}
