import type { BotIsolate } from './bot-isolate.ts'

/** Long enough that isolates requested in quick succession do not wait while the next one is prewarmed. */
const refillMilliseconds = 20

/**
 * One isolate that is made ahead of time, with its kernel and without a bot: making it is more than half of a bot's
 * cold start. It holds 1.5 MB.
 */
export class PrewarmedIsolate {
  readonly #make: (memoryMegabytes: number) => BotIsolate
  #isolate: BotIsolate | undefined
  #memoryMegabytes = 0
  #refill: NodeJS.Timeout | undefined
  /** Number of requests that found a prewarmed isolate of the right size, and of those that did not. */
  readonly taken = { spare: 0, cold: 0 }

  constructor(make: (memoryMegabytes: number) => BotIsolate) {
    this.#make = make
  }

  /**
   * Takes the prewarmed isolate if it has this heap size, or makes one. Schedules another prewarmed isolate of the same
   * size.
   */
  take(memoryMegabytes: number): BotIsolate {
    const spare = this.#memoryMegabytes === memoryMegabytes ? this.#isolate : undefined
    this.taken[spare === undefined ? 'cold' : 'spare'] += 1
    if (spare === undefined) this.#isolate?.dispose()
    this.#isolate = undefined
    this.#memoryMegabytes = memoryMegabytes
    clearTimeout(this.#refill)
    this.#refill = setTimeout(() => {
      this.#isolate = this.#make(memoryMegabytes)
    }, refillMilliseconds)
    return spare ?? this.#make(memoryMegabytes)
  }
}
