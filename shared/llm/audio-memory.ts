import { ApiError } from '../errors.ts'
import { megabyte } from '../units.ts'

/** Upper bounds of the audio that a process holds, and of that of one bot. */
const maxBytes = 128 * megabyte
const maxBytesOfBot = 64 * megabyte

/** Bounds the memory of the audio whose calls are in flight in this process. */
export class AudioMemory {
  #held = 0
  readonly #ofBots = new Map<string, number>()

  /** Opens the share of a call. */
  open(botId: string): { add(bytes: number): void; close(): void } {
    let own = 0
    return {
      /** @throws ApiError `RateLimited` when there is no room */
      add: (bytes) => {
        const ofBot = (this.#ofBots.get(botId) ?? 0) + bytes
        if (this.#held + bytes > maxBytes || ofBot > maxBytesOfBot) {
          throw new ApiError('RateLimited', 'Too much audio is transcribed at the same time: try again in a moment', {
            retryAfterSeconds: 1,
          })
        }
        own += bytes
        this.#held += bytes
        this.#ofBots.set(botId, ofBot)
      },
      close: () => {
        this.#held -= own
        const left = (this.#ofBots.get(botId) ?? 0) - own
        if (left > 0) this.#ofBots.set(botId, left)
        else this.#ofBots.delete(botId)
        own = 0
      },
    }
  }
}
