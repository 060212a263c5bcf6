import { ByteBudget, type ByteShare } from '../byte-budget.ts'
import { ApiError } from '../errors.ts'
import { megabyte } from '../units.ts'

/** Upper bounds of the audio and the pictures that a process holds, and of those of one bot. */
const maxBytes = 128 * megabyte
const maxBytesOfBot = 64 * megabyte

/** Bounds the memory of the audio and the pictures whose calls are in flight in this process. */
export class MediaMemory {
  readonly #budget = new ByteBudget(maxBytes, maxBytesOfBot)

  /** Opens the share of a call, which refuses with `OverMemoryError`. */
  open(botId: string): ByteShare {
    return this.#budget.open(botId, () => new OverMemoryError())
  }
}

/** The reason why there is no memory, and the remedy. */
export const overMemory = 'too much audio and too many pictures are in calls at the same time, try again in a moment'

/** There is no memory for more audio or pictures. */
export class OverMemoryError extends ApiError {
  override name = 'OverMemoryError'

  constructor() {
    super('RateLimited', `${overMemory.charAt(0).toUpperCase()}${overMemory.slice(1)}`, { retryAfterSeconds: 1 })
  }
}

/**
 * Counts the answers of one call: those of its attempts follow one another, so the largest counts.
 *
 * @param expected the bytes of a usual answer, which are counted at once
 * @throws OverMemoryError
 */
export function holdGrowing(share: ByteShare, expected: number): (bytes: number) => void {
  let held = 0
  const hold = (bytes: number) => {
    if (bytes <= held) return
    share.add(bytes - held)
    held = bytes
  }
  hold(expected)
  return hold
}
