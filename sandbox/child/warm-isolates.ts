import type { BotIsolate } from './bot-isolate.ts'

/** More than one, so that it shrinks. */
const goneForOneWhenFull = 2
const sweepMilliseconds = 1000
/** In a sweep that finds the process too large: enough to shrink by some megabytes a second, and to look again after. */
const goneInSweep = 10

export interface WarmIsolatesOptions {
  /** The resident size beyond which idle isolates make room, in bytes. */
  softBytes: number
  /** How many isolates are kept before idle ones make room. */
  isolates: number
  isIdle(isolate: BotIsolate): boolean
}

/**
 * The isolates by bundle, the least recently used first. Idle ones are kept while the process is within its limits;
 * beyond them they are disposed in that order, when another isolate is made, and in sweeps.
 */
export class WarmIsolates {
  readonly #byBundle = new Map<string, BotIsolate>()
  readonly #options: WarmIsolatesOptions

  constructor(options: WarmIsolatesOptions) {
    this.#options = options
    setInterval(() => {
      if (this.#isFull()) this.#disposeIdle(goneInSweep)
    }, sweepMilliseconds)
  }

  /** The isolate of a bundle, made when there is none. */
  get(bundle: string, make: () => BotIsolate): BotIsolate {
    const found = this.#byBundle.get(bundle)
    const isMissing = found === undefined || found.dead
    if (isMissing) this.#makeRoom()
    const isolate = isMissing ? make() : found
    this.#byBundle.delete(bundle)
    this.#byBundle.set(bundle, isolate)
    return isolate
  }

  /** Gives the next run of its bundle another isolate. */
  forget(isolate: BotIsolate): void {
    for (const [bundle, each] of this.#byBundle) if (each === isolate) this.#byBundle.delete(bundle)
  }

  #makeRoom(): void {
    const tooMany = this.#byBundle.size - this.#options.isolates + 1
    this.#disposeIdle(Math.max(tooMany, this.#isFull() ? goneForOneWhenFull : 0))
  }

  #isFull(): boolean {
    return process.memoryUsage.rss() > this.#options.softBytes
  }

  /** Disposes so many, or as many as are idle. */
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
