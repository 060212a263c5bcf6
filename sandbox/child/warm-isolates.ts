import type { BotIsolate } from './bot-isolate.ts'

/** Idle isolates disposed for each new one beyond the limit; more than one, so that their number falls. */
const evictedPerNewIsolate = 2
const sweepMilliseconds = 1000
/**
 * Idle isolates disposed in one sweep of a process that is too large: enough to free some megabytes per second, few
 * enough to measure again in between.
 */
const evictedPerSweep = 10

export interface WarmIsolatesOptions {
  /** Resident size, in bytes, beyond which idle isolates are disposed. */
  softBytes: number
  /** Number of isolates beyond which idle ones are disposed. */
  isolates: number
  isIdle(isolate: BotIsolate): boolean
}

/**
 * The isolates by bundle, the least recently used first. Idle ones are kept while the process is within its limits.
 * Beyond the limits they are disposed in that order, when another isolate is made, and in sweeps.
 */
export class WarmIsolates {
  readonly #byBundle = new Map<string, BotIsolate>()
  readonly #options: WarmIsolatesOptions

  constructor(options: WarmIsolatesOptions) {
    this.#options = options
    setInterval(() => {
      if (this.#isFull()) this.#disposeIdle(evictedPerSweep)
    }, sweepMilliseconds)
  }

  /** Returns the isolate of a bundle; makes one if there is none. */
  get(bundle: string, make: () => BotIsolate): BotIsolate {
    const found = this.#byBundle.get(bundle)
    const isMissing = found === undefined || found.dead
    if (isMissing) this.#evict()
    const isolate = isMissing ? make() : found
    this.#byBundle.delete(bundle)
    this.#byBundle.set(bundle, isolate)
    return isolate
  }

  /** Removes an isolate, so that the next run of its bundle gets another one. */
  remove(isolate: BotIsolate): void {
    for (const [bundle, each] of this.#byBundle) if (each === isolate) this.#byBundle.delete(bundle)
  }

  #evict(): void {
    const tooMany = this.#byBundle.size - this.#options.isolates + 1
    this.#disposeIdle(Math.max(tooMany, this.#isFull() ? evictedPerNewIsolate : 0))
  }

  #isFull(): boolean {
    return process.memoryUsage.rss() > this.#options.softBytes
  }

  /** Disposes `count` idle isolates, or all of them if there are fewer. */
  #disposeIdle(count: number): void {
    let left = count
    for (const [bundle, isolate] of this.#byBundle) {
      if (left <= 0) return
      if (!this.#options.isIdle(isolate)) continue
      this.#byBundle.delete(bundle)
      isolate.dispose()
      left -= 1
    }
  }
}
