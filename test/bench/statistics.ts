/** The value below which the given percentage of the sorted values lies. */
export function percentile(sorted: readonly number[], percent: number): number {
  if (sorted.length === 0) throw new Error('Nothing was measured')
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))]!
}

/** The middle value; for an even number of values, the mean of the two middle ones. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle]
  const lower = sorted[sorted.length % 2 === 0 ? middle - 1 : middle]
  if (upper === undefined || lower === undefined) throw new Error('Nothing was measured')
  return (lower + upper) / 2
}
