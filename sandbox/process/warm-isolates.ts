import type { BotIsolate } from './bot-isolate.ts'

const warmIsolates = 40
/**
 * What the process may hold before idle isolates make room for new ones. At 300 MB its data, which is limited to
 * 480 MB, was measured as 357 to 421 MB. An isolate with a bundle of the SDK holds 10 MB.
 */
const fullBytes = 300 * 1024 * 1024
/** More than one, so that it shrinks. */
const goneForOneWhenFull = 2
const idleMilliseconds = 15 * 60_000
const sweepMilliseconds = 60_000

interface Entry {
  isolate: BotIsolate
  usedAt: number
}

/** The isolates by bundle, the one used longest ago first. Those with nothing to do are thrown away when there are too many. */
export class WarmIsolates {
  readonly #entries = new Map<string, Entry>()
  readonly #isIdle: (isolate: BotIsolate) => boolean

  constructor(isIdle: (isolate: BotIsolate) => boolean) {
    this.#isIdle = isIdle
    setInterval(() => this.#sweep(), sweepMilliseconds)
  }

  /** The isolate of a bundle, made when there is none. */
  get(bundle: string, make: () => BotIsolate): BotIsolate {
    const found = this.#entries.get(bundle)?.isolate
    const isMissing = found === undefined || found.dead
    if (isMissing) this.#makeRoom()
    const isolate = isMissing ? make() : found
    this.#entries.delete(bundle)
    this.#entries.set(bundle, { isolate, usedAt: performance.now() })
    return isolate
  }

  /** Gives the next run of its bundle another isolate. */
  forget(isolate: BotIsolate): void {
    for (const [bundle, entry] of this.#entries) if (entry.isolate === isolate) this.#entries.delete(bundle)
  }

  #makeRoom(): void {
    const isFull = process.memoryUsage.rss() > fullBytes
    let surplus = Math.max(this.#entries.size - warmIsolates + 1, isFull ? goneForOneWhenFull : 0)
    for (const [bundle, { isolate }] of this.#entries) {
      if (surplus <= 0) return
      if (!this.#isIdle(isolate)) continue
      this.#dispose(bundle, isolate)
      surplus -= 1
    }
  }

  #sweep(): void {
    const oldest = performance.now() - idleMilliseconds
    for (const [bundle, { isolate, usedAt }] of this.#entries) {
      if (usedAt < oldest && this.#isIdle(isolate)) this.#dispose(bundle, isolate)
    }
  }

  #dispose(bundle: string, isolate: BotIsolate): void {
    this.#entries.delete(bundle)
    isolate.dispose()
  }
}
