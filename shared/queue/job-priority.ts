import { SlidingWindowCounter } from './sliding-window-counter.ts'

const windowMilliseconds = 10_000
/** As many in a window wait with those of all others, in the order in which they came. */
const fewWakes = 10
/** Of each bot one wake-up in this time goes there in any case, so that none comes to a standstill behind the others. */
const certainMilliseconds = 1000
/** The first number that is not in order any more is far above what a process enqueues. */
const maxBits = 20

/**
 * Says where in the queue a bot's wake-up waits: 0 in front, and further back the more wake-ups it has had lately. So a
 * bot that floods the queue waits for itself, and one that has hardly anything to do overtakes it. Each process counts
 * what it enqueues itself.
 */
export class JobPriority {
  readonly #wakes: SlidingWindowCounter
  readonly #now: () => number
  #certainUntil = 0
  /** The bots that had a wake-up in front not long ago. */
  #served = new Set<string>()

  /** @param now a clock that only goes forward, in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
    this.#wakes = new SlidingWindowCounter(windowMilliseconds, now)
  }

  /** Counts a wake-up, and says where it waits. */
  next(botId: string): number {
    this.#wakes.add(botId)
    if (this.#isCertain(botId)) return 0
    const excess = this.#wakes.of(botId) / fewWakes
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
