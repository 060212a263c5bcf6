import type { BotIsolate } from './bot-isolate.ts'

/** Long enough that isolates which are wanted one after another do not wait for the next spare. */
const refillMilliseconds = 20

/**
 * One isolate that is made ahead of time, with its kernel and without a bot: making it is more than half of a bot's cold
 * start. It holds 1.5 MB.
 */
export class PrewarmedIsolate {
  readonly #make: (memoryMegabytes: number) => BotIsolate
  #isolate: BotIsolate | undefined
  #memoryMegabytes = 0
  #refill: NodeJS.Timeout | undefined
  /** How often there was one that fitted, and how often there was not. */
  readonly taken = { spare: 0, cold: 0 }

  constructor(make: (memoryMegabytes: number) => BotIsolate) {
    this.#make = make
  }

  /** The spare where it fits, else another one; and soon there is a spare of that size again. */
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
