/** Random choices, which are the same for the same seed. */
export interface Chances {
  /** From `low` up to `high`. */
  between(low: number, high: number): number
  pick<Item>(items: readonly Item[]): Item
  shuffle<Item>(items: readonly Item[]): Item[]
}

/** @param seed an integer; each has a sequence of its own (mulberry32) */
export function chancesFrom(seed: number): Chances {
  let state = seed | 0

  function next(): number {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  const below = (count: number) => Math.floor(next() * count)
  return {
    between: (low, high) => low + next() * (high - low),
    pick: (items) => items[below(items.length)]!,
    shuffle(items) {
      const shuffled = [...items]
      for (let last = shuffled.length - 1; last > 0; last--) {
        const other = below(last + 1)
        ;[shuffled[last], shuffled[other]] = [shuffled[other]!, shuffled[last]!]
      }
      return shuffled
    },
  }
}
