import { SlidingWindowCounter } from '#shared/queue/sliding-window-counter.ts'

const inspections = 'inspections/'

/**
 * All inspections of a workspace's code together share the slots as one bot does, and nobody has fewer slots because of a
 * past one.
 */
export function inspectionsOf(workspaceId: string): string {
  return inspections + workspaceId
}

/** Whether slots are taken for a bot, and not for inspections. */
export function isBot(id: string): boolean {
  return !id.startsWith(inspections)
}

/** For so long a bot counts as one that wants slots. */
const presenceMilliseconds = 10_000
const rateMilliseconds = 1000
/** With so many slots given back in a second, the next bot has one within 50 ms, however long each was held. */
const quickEnds = 20

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
  readonly #held = new Map<string, number>()
  readonly #taken: SlidingWindowCounter
  readonly #ended: SlidingWindowCounter
  #inUse = 0
  #freed = () => {}

  /**
   * @param slots how many jobs the worker has under way at most
   * @param now a clock that only goes forward, in milliseconds
   */
  constructor(slots: number, now: () => number = () => performance.now()) {
    this.#slots = slots
    this.#taken = new SlidingWindowCounter(presenceMilliseconds, now)
    this.#ended = new SlidingWindowCounter(rateMilliseconds, now)
  }

  /** How many are taken. */
  get inUse(): number {
    return this.#inUse
  }

  /** Calls back whenever one was given back. */
  onFree(callback: () => void): void {
    this.#freed = callback
  }

  /** Takes a slot for a bot; disposing gives it back. Undefined when the bot has its share. */
  take(botId: string): Disposable | undefined {
    const held = this.#held.get(botId) ?? 0
    const isWithinShare = held === 0 || held < this.#slots - this.#inUse
    if (!isWithinShare && !(this.#isQuick(botId, held) && this.#taken.isOnly(botId))) return undefined
    this.#held.set(botId, held + 1)
    this.#inUse += 1
    if (isBot(botId)) this.#taken.add(botId)
    return { [Symbol.dispose]: () => this.#give(botId) }
  }

  #isQuick(botId: string, held: number): boolean {
    const ended = this.#ended.of(botId)
    return held < ended || ended >= quickEnds
  }

  #give(botId: string): void {
    this.#inUse -= 1
    this.#ended.add(botId)
    const held = (this.#held.get(botId) ?? 0) - 1
    if (held > 0) this.#held.set(botId, held)
    else this.#held.delete(botId)
    this.#freed()
  }
}
