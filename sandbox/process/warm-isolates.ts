import type { BotIsolate } from './bot-isolate.ts'

const warmIsolates = 40
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
    const isolate = found === undefined || found.dead ? make() : found
    this.#entries.delete(bundle)
    this.#entries.set(bundle, { isolate, usedAt: performance.now() })
    this.#shrink(isolate)
    return isolate
  }

  /** Gives the next run of its bundle another isolate. */
  forget(isolate: BotIsolate): void {
    for (const [bundle, entry] of this.#entries) if (entry.isolate === isolate) this.#entries.delete(bundle)
  }

  #shrink(newest: BotIsolate): void {
    for (const [bundle, { isolate }] of this.#entries) {
      if (this.#entries.size <= warmIsolates) return
      if (isolate !== newest && this.#isIdle(isolate)) this.#dispose(bundle, isolate)
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
