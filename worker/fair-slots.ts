import { RecentCounts } from '#shared/recent-counts.ts'

/** For so long a bot counts as one that wants slots. */
const presenceMilliseconds = 10_000
const rateMilliseconds = 1000
/** With so many slots given back in a second, the next bot has one within 50 ms, however long each was held. */
const quickEnds = 20
const firstReturnMilliseconds = 100
/** Jobs of one bot come back one after the other, so that a long row of them costs next to nothing. */
const mostBetweenReturns = 10
const leastBetweenReturns = 2

/**
 * Shares the slots of a worker among bots.
 *
 * A bot may always have one. It may have more while it holds fewer than are free: so one alone has half of them, two have
 * a third each, and there are always some left for whoever comes next. While no other bot has anything to do it may have
 * them all, if its slots are given back soon enough for the next one that comes: within a second on average, or twenty a
 * second.
 */
export class FairSlots {
  readonly #slots: number
  readonly #now: () => number
  readonly #held = new Map<string, number>()
  readonly #taken: RecentCounts
  readonly #ended: RecentCounts
  /** When the last of a bot's jobs that were put back returns. */
  readonly #returns = new Map<string, number>()
  #inUse = 0

  /**
   * @param slots how many jobs the worker has under way at most
   * @param now a clock that only goes forward, in milliseconds
   */
  constructor(slots: number, now: () => number = () => performance.now()) {
    this.#slots = slots
    this.#now = now
    this.#taken = new RecentCounts(presenceMilliseconds, now)
    this.#ended = new RecentCounts(rateMilliseconds, now)
  }

  /** Takes a slot for a bot; disposing gives it back. Undefined when the bot has its share. */
  take(botId: string): Disposable | undefined {
    const held = this.#held.get(botId) ?? 0
    const isWithinShare = held === 0 || held < this.#slots - this.#inUse
    if (!isWithinShare && !(this.#isQuick(botId, held) && this.#taken.isOnly(botId))) return undefined
    this.#held.set(botId, held + 1)
    this.#inUse += 1
    this.#taken.add(botId)
    return { [Symbol.dispose]: () => this.#give(botId) }
  }

  #isQuick(botId: string, held: number): boolean {
    const ended = this.#ended.of(botId)
    return held < ended || ended >= quickEnds
  }

  /** How long a job waits, in milliseconds, for which there was no slot. */
  pause(botId: string): number {
    const now = this.#now()
    const between = Math.max(rateMilliseconds / this.#ended.of(botId), leastBetweenReturns)
    const last = this.#returns.get(botId) ?? 0
    const next = Math.max(now + firstReturnMilliseconds, last + Math.min(between, mostBetweenReturns))
    this.#returns.set(botId, next)
    return next - now
  }

  #give(botId: string): void {
    this.#inUse -= 1
    this.#ended.add(botId)
    const held = (this.#held.get(botId) ?? 0) - 1
    if (held > 0) return void this.#held.set(botId, held)
    this.#held.delete(botId)
    if ((this.#returns.get(botId) ?? 0) <= this.#now()) this.#returns.delete(botId)
  }
}
