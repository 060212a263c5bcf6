/**
 * The candidate nearest to a misspelt word; undefined when none is near enough.
 *
 * @param maxDistance letters in which they may differ, in longer words too
 */
export function didYouMean(
  word: string,
  candidates: readonly string[],
  maxDistance: number = Infinity,
): string | undefined {
  const near = candidates
    .map((candidate) => ({ candidate, distance: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(
      ({ candidate, distance }) => distance <= Math.min(maxDistance, Math.max(word.length, candidate.length) * 0.4),
    )
    .toSorted((one, other) => one.distance - other.distance)
  return near[0]?.candidate
}

/** The Levenshtein distance: the number of letters to insert, delete or replace. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let index = 0; index < from.length; index++) {
    const next = [index + 1]
    for (let column = 1; column <= to.length; column++) {
      const replaced = row[column - 1]! + (to[column - 1] === from[index] ? 0 : 1)
      next.push(Math.min(replaced, row[column]! + 1, next[column - 1]! + 1))
    }
    row = next
  }
  return row[to.length]!
}
