/**
 * Durations are counted by steps, each a quarter longer than the one before: so few numbers tell the percentiles of any
 * number of durations, and counts of several processes are added up. What they tell is right to about an eighth.
 */

/** How many durations fell into each step, by its number; steps into which none fell are absent. */
export type LatencyHistogram = Record<string, number>

const ratio = 1.25
/** About 17 minutes: what takes longer counts as that. */
const lastStep = 63

/** The step that a duration in milliseconds falls into; all below one millisecond into the first. */
export function stepOf(milliseconds: number): number {
  if (!(milliseconds >= 1)) return 0
  return Math.min(lastStep, 1 + Math.floor(Math.log(milliseconds) / Math.log(ratio)))
}

/**
 * The duration that a share of the counted durations stayed within, in milliseconds; null when none were counted.
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

/** The counts of all together. */
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
