import { setImmediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'

/** The vectors of passages that a process holds, to compare them where the database cannot. */
export interface VectorMemory {
  /** The number of vectors of a length that may be held, and so compared. */
  capacity(dimensions: number): number
  /**
   * Scores vectors by their similarity to another one, without a long block of the event loop.
   *
   * @param numbers those of the vectors to compare, which the caller may read
   * @param load reads vectors that are not held yet; a vector that was deleted meanwhile is absent
   * @returns the most similar ones, best first; undefined when they are more than the process may hold
   */
  nearest(
    vector: Float32Array,
    numbers: number[],
    limit: number,
    load: (numbers: number[]) => Promise<{ number: number; vector: Buffer }[]>,
  ): Promise<{ number: number; score: number }[] | undefined>
}

/** Bytes of vectors that are read by one statement. */
const loadedBytes = 1024 * 1024
/** Multiplications until other work gets its turn, about a millisecond. */
const sliceMultiplications = 500_000
/** The memory of a vector beside its numbers. */
const entryBytes = 200

/** @param maxBytes of the vectors that are held together, and of those that one search compares */
export function openVectorMemory(maxBytes: number): VectorMemory {
  const held = new LRUCache<number, Float32Array>({
    maxSize: maxBytes,
    sizeCalculation: ({ byteLength }) => byteLength + entryBytes,
  })
  // Searches load one after another, so that many at once do not read the same vectors many times.
  let loading: Promise<unknown> = Promise.resolve()

  return {
    capacity: (dimensions) => Math.floor(maxBytes / (dimensions * Float32Array.BYTES_PER_ELEMENT + entryBytes)),

    async nearest(vector, numbers, limit, load) {
      if (numbers.length * (vector.byteLength + entryBytes) > maxBytes) return undefined
      const loadMissing = async () => {
        const missing = numbers.filter((number) => !held.has(number))
        const batch = Math.max(1, Math.floor(loadedBytes / vector.byteLength))
        for (let from = 0; from < missing.length; from += batch) {
          for (const row of await load(missing.slice(from, from + batch))) held.set(row.number, toVector(row.vector))
        }
      }
      if (numbers.some((number) => !held.has(number))) await (loading = loading.then(loadMissing, loadMissing))
      const slice = Math.max(1, Math.floor(sliceMultiplications / vector.length))
      let best: { number: number; score: number }[] = []
      for (let from = 0; from < numbers.length; from += slice) {
        for (const number of numbers.slice(from, from + slice)) {
          const other = held.get(number)
          if (other?.length === vector.length) best.push({ number, score: product(vector, other) })
        }
        best = best.toSorted((a, b) => b.score - a.score).slice(0, limit)
        await setImmediate()
      }
      return best
    },
  }
}

/** Copies the numbers: a buffer of the driver may begin at any byte, and belong to a larger one. */
function toVector(bytes: Buffer): Float32Array {
  return new Float32Array(new Uint8Array(bytes).buffer)
}

function product(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let index = 0; index < a.length; index++) sum += a[index]! * b[index]!
  return sum
}
