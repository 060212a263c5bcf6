import { SlidingWindowCounter } from '../sliding-window-counter.ts'

const windowMilliseconds = 10_000
/** A bot with at most this many wake-ups in the window shares the front of the queue, in order of arrival. */
const wakesPerStep = 10
/** Each bot gets one wake-up at the front per this interval in any case, so that none starves. */
const certainMilliseconds = 1000
/** Bounds the priority, which is a binary logarithm: no process enqueues 10 × 2²⁰ wake-ups in a window. */
const maxBits = 20

/**
 * Computes the queue priority of a bot's wake-up: 0 for the front, and a higher number the more wake-ups the bot has
 * had recently. A bot that floods the queue delays only itself, and a bot with few wake-ups overtakes it. Each process
 * counts its own wake-ups only.
 */
export class JobPriority {
  readonly #wakes: SlidingWindowCounter
  readonly #now: () => number
  #certainUntil = 0
  /** The bots that have had a wake-up at the front within the interval. */
  #served = new Set<string>()

  /** @param now a monotonic clock, in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
    this.#wakes = new SlidingWindowCounter(windowMilliseconds, now)
  }

  /** Counts a wake-up, and returns its priority. */
  next(botId: string): number {
    this.#wakes.add(botId)
    if (this.#isCertain(botId)) return 0
    const excess = this.#wakes.of(botId) / wakesPerStep
    return Math.min(Math.max(Math.ceil(Math.log2(excess)), 0), maxBits)
  }

  #isCertain(botId: string): boolean {
    const now = this.#now()
    if (now >= this.#certainUntil) {
      this.#served.clear()
      this.#certainUntil = now + certainMilliseconds
    }
    if (this.#served.has(botId)) return false
    this.#served.add(botId)
    return true
  }
}
