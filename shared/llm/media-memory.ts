import { ByteBudget, type ByteShare } from '../byte-budget.ts'
import { ApiError } from '../errors.ts'
import { megabyte } from '../units.ts'

/** Upper bounds of the audio and the pictures that a process holds, and of those of one bot. */
const maxBytes = 128 * megabyte
const maxBytesOfBot = 64 * megabyte

/** Bounds the memory of the audio and the pictures whose calls are in flight in this process. */
export class MediaMemory {
  readonly #budget = new ByteBudget(maxBytes, maxBytesOfBot)

  /** Opens the share of a call, which refuses with ApiError `RateLimited`. */
  open(botId: string): ByteShare {
    return this.#budget.open(botId, tooMuch)
  }
}

function tooMuch(): ApiError {
  const message = 'Too much audio and too many pictures are in calls at the same time: try again in a moment'
  return new ApiError('RateLimited', message, { retryAfterSeconds: 1 })
}
