import { ByteBudget } from '../byte-budget.ts'
import { ApiError } from '../errors.ts'
import { megabyte } from '../units.ts'

/** Upper bounds of the audio and the pictures that a process holds, and of those of one bot. */
const maxBytes = 128 * megabyte
const maxBytesOfBot = 64 * megabyte

/** Bounds the memory of the audio and the pictures whose calls are in flight in this process. */
export class MediaMemory {
  readonly #budget = new ByteBudget(maxBytes, maxBytesOfBot)

  /** Opens the share of a call. */
  open(botId: string): { add(bytes: number): void; close(): void } {
    let own = 0
    return {
      /** @throws ApiError `RateLimited` when there is no room */
      add: (bytes) => {
        if (!this.#budget.fits(botId, bytes)) {
          throw new ApiError(
            'RateLimited',
            'Too much audio and too many pictures are in calls at the same time: try again in a moment',
            {
              retryAfterSeconds: 1,
            },
          )
        }
        own += bytes
        this.#budget.add(botId, bytes)
      },
      close: () => {
        this.#budget.add(botId, -own)
        own = 0
      },
    }
  }
}
