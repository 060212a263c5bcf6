import { LRUCache } from 'lru-cache'
import { ApiError } from '../errors.ts'
import type { Database } from '../store/database.ts'
import { busyBots } from '../store/mailboxes.ts'

/** Bounds the number of a bot's waiting events. */
export interface BacklogLimit {
  /**
   * Stores an event for a bot, unless too many wait.
   *
   * @param store stores the event
   * @throws ApiError `RateLimited`, with the time after which to retry
   */
  admit<Result>(db: Database, botId: string, store: () => Promise<Result>): Promise<Result>

  /**
   * Stores as many events as the limit permits.
   *
   * @param wanted the number of events to store
   * @param store stores at most as many events as its argument says
   * @throws ApiError `RateLimited` when the limit permits none
   */
  admitSome<Result>(
    db: Database,
    botId: string,
    wanted: number,
    store: (atMost: number) => Promise<Result>,
  ): Promise<Result>

  /**
   * Stores an event that has become due, as `admit`. It was accepted earlier than new events, so its limit is higher: a
   * bot whose backlog is always full does not delay its own due events for ever.
   */
  admitDue<Result>(db: Database, botId: string, store: () => Promise<Result>): Promise<Result>
}

/** Part of a bot's limit that a process may store before it counts the waiting events again. */
const allowanceShare = 1 / 10
const minPauseMilliseconds = 1000
/** Counts while bots are at their limit may take this part of the time: a count reads all waiting events. */
const partOfTime = 1 / 10
const maxBots = 10_000
/** The limit for due events, as a multiple of the limit for new ones. */
const dueLimitFactor = 11 / 10

/**
 * The number of events that this process may store for a bot without a count, or the time until which it stores none.
 */
type Allowance = { left: number } | { fullUntil: number }

/**
 * Counts the events that this process stores, and counts the waiting events in the database only now and then, so
 * nearly all requests cost no statement. With several processes a bot may exceed `most` by a tenth of it for each
 * process.
 *
 * @param most upper bound of the waiting events of one bot
 */
export function openBacklogLimit(most: number): BacklogLimit {
  const incoming = openAllowances(most)
  const due = openAllowances(Math.ceil(most * dueLimitFactor))
  return {
    admit: (db, botId, store) => incoming(db, botId, 1, store),
    admitSome: incoming,
    admitDue: (db, botId, store) => due(db, botId, 1, store),
  }
}

function openAllowances(most: number): BacklogLimit['admitSome'] {
  const allowanceSize = Math.ceil(most * allowanceShare)
  const allowances = new LRUCache<string, Allowance>({ max: maxBots })
  /** The number of events whose insertion is in progress, which a count may not see yet. */
  const inFlight = new Map<string, number>()
  let counting: Promise<void> | undefined

  async function countBacklogs(db: Database): Promise<void> {
    const begin = performance.now()
    const storing = new Map(inFlight)
    const bots = await busyBots(db, { least: most - allowanceSize, or: Array.from(storing.keys()) })
    const now = performance.now()
    const pause = Math.max(minPauseMilliseconds, (now - begin) / partOfTime)
    allowances.clear()
    for (const { bot_id: botId, count } of bots) storing.set(botId, (storing.get(botId) ?? 0) + count)
    for (const [botId, count] of storing) {
      allowances.set(botId, count < most ? { left: Math.min(most - count, allowanceSize) } : { fullUntil: now + pause })
    }
  }

  /** @returns whether the event may be stored without a count */
  function spend(botId: string): boolean {
    const allowance = allowances.get(botId)
    if (!allowance) allowances.set(botId, { left: allowanceSize - 1 })
    else if ('fullUntil' in allowance || allowance.left <= 0) return false
    else allowance.left -= 1
    return true
  }

  function isKnownFull(botId: string): boolean {
    const allowance = allowances.get(botId)
    return allowance !== undefined && 'fullUntil' in allowance && allowance.fullUntil > performance.now()
  }

  async function spendOrRefuse(db: Database, botId: string): Promise<void> {
    while (!spend(botId)) {
      if (isKnownFull(botId)) throw full(most)
      // A count of another caller fails with that caller's connection; this caller then counts itself.
      if (counting) await counting.catch(() => {})
      else await (counting = countBacklogs(db).finally(() => (counting = undefined)))
    }
  }

  /** @returns how many of the wanted events may be stored */
  async function spendSome(db: Database, botId: string, wanted: number): Promise<number> {
    await spendOrRefuse(db, botId)
    const allowance = allowances.get(botId)
    if (!allowance || 'fullUntil' in allowance) return 1
    const others = Math.min(wanted - 1, allowance.left)
    allowance.left -= others
    return 1 + others
  }

  function count(botId: string, change: number): void {
    const stored = (inFlight.get(botId) ?? 0) + change
    if (stored > 0) inFlight.set(botId, stored)
    else inFlight.delete(botId)
  }

  return async (db, botId, wanted, store) => {
    const allowed = await spendSome(db, botId, wanted)
    count(botId, allowed)
    try {
      return await store(allowed)
    } finally {
      count(botId, -allowed)
    }
  }
}

/** Whether an event was refused because of the backlog limit. */
export function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.type === 'RateLimited'
}

function full(most: number): ApiError {
  return new ApiError(
    'RateLimited',
    `${most} events of the bot are pending, the maximum: try again when some of them are handled`,
    { retryAfterSeconds: minPauseMilliseconds / 1000 },
  )
}
