import { SlidingWindowCounter } from '#shared/sliding-window-counter.ts'

const inspections = 'inspections/'
const indexing = 'indexing/'
const tableJobs = 'table-jobs/'
const scripts = 'scripts/'
const inboxes = 'inboxes/'

/**
 * The id under which all inspections of a workspace's code share the slots, as one bot does. A past inspection does not
 * reduce the slots of bots.
 */
export function inspectionsOf(workspaceId: string): string {
  return inspections + workspaceId
}

/** The id under which the indexing of a bot's files shares the slots, apart from its events. */
export function indexingOf(botId: string): string {
  return indexing + botId
}

/** The id under which the imports and exports of a bot's tables share the slots, apart from its events. */
export function tableJobsOf(botId: string): string {
  return tableJobs + botId
}

/** The id under which the scripts of a workspace's integrations share the slots: they take milliseconds. */
export function scriptsOf(workspaceId: string): string {
  return scripts + workspaceId
}

/** The id under which the webhook of a workspace's inbox shares the slots. */
export function inboxOf(workspaceId: string): string {
  return inboxes + workspaceId
}

/** Whether an id is a bot's, and not that of other work of a bot or a workspace. */
export function isBot(id: string): boolean {
  return ![inspections, indexing, tableJobs, scripts, inboxes].some((others) => id.startsWith(others))
}

/** How long a bot counts as wanting slots after it has taken one. */
const activeMilliseconds = 10_000
const rateMilliseconds = 1000
/** At this many slots released per second, the next bot gets one within 50 ms, however long each is held. */
const quickEnds = 20

/**
 * Shares the slots of a worker among bots.
 *
 * Each bot may hold one slot. It may take more while it holds fewer than are free: a single bot gets half of them, two
 * bots a third each, and some remain for the next bot. A bot that releases its slots fast enough for a newcomer, within a
 * second on average or twenty per second, may take more while one remains free: up to half of them beside other bots.
 *
 * A lone bot leaves one free too, because its slots may all be released at the same time: hooks that compute wait for
 * each other in the bot's isolate, until the last has begun.
 */
export class FairSlots {
  readonly #slots: number
  readonly #held = new Map<string, number>()
  readonly #taken: SlidingWindowCounter
  readonly #ended: SlidingWindowCounter
  #inUse = 0
  #freed = () => {}

  /**
   * @param slots maximum of jobs that the worker has in flight
   * @param now a monotonic clock, in milliseconds
   */
  constructor(slots: number, now: () => number = () => performance.now()) {
    this.#slots = slots
    this.#taken = new SlidingWindowCounter(activeMilliseconds, now)
    this.#ended = new SlidingWindowCounter(rateMilliseconds, now)
  }

  /** Number of taken slots. */
  get inUse(): number {
    return this.#inUse
  }

  /** Number of slots that a bot holds. */
  heldBy(botId: string): number {
    return this.#held.get(botId) ?? 0
  }

  /** Whether no other bot has taken a slot recently. */
  isAlone(botId: string): boolean {
    return this.#taken.isOnly(botId)
  }

  /** Calls back whenever a slot is released. */
  onFree(callback: () => void): void {
    this.#freed = callback
  }

  /** Takes a slot for a bot; disposing releases it. Undefined when the bot already has its share. */
  take(botId: string): Disposable | undefined {
    const held = this.#held.get(botId) ?? 0
    const free = this.#slots - this.#inUse
    const isWithinShare = held === 0 || held < free
    const mayTakeMore = () => free > 1 && (held < this.#slots / 2 || this.isAlone(botId))
    if (!isWithinShare && !(this.#isQuick(botId, held) && mayTakeMore())) return undefined
    this.#held.set(botId, held + 1)
    this.#inUse += 1
    if (isBot(botId)) this.#taken.add(botId)
    return { [Symbol.dispose]: () => this.#release(botId) }
  }

  #isQuick(botId: string, held: number): boolean {
    const ended = this.#ended.of(botId)
    return held < ended || ended >= quickEnds
  }

  #release(botId: string): void {
    this.#inUse -= 1
    this.#ended.add(botId)
    const held = (this.#held.get(botId) ?? 0) - 1
    if (held > 0) this.#held.set(botId, held)
    else this.#held.delete(botId)
    this.#freed()
  }
}
