import { LRUCache } from 'lru-cache'
import { ApiError } from '../errors.ts'
import type { Database } from '../store/database.ts'
import { busyBots } from '../store/mailboxes.ts'

/** Keeps a bot from having more events wait than it will ever handle. */
export interface BacklogLimit {
  /**
   * Stores an event for a bot to handle, unless too many wait.
   *
   * @param store stores it
   * @throws ApiError `RateLimited`, with the time after which to try again
   */
  admit<Result>(db: Database, botId: string, store: () => Promise<Result>): Promise<Result>

  /**
   * Stores as many events as there is room for.
   *
   * @param wanted how many there are, at most
   * @param store stores at most so many as it is given
   * @throws ApiError likewise, when there is room for none
   */
  admitSome<Result>(
    db: Database,
    botId: string,
    wanted: number,
    store: (atMost: number) => Promise<Result>,
  ): Promise<Result>

  /**
   * Stores an event whose time has come, as `admit`. It was accepted before what comes now: there is more room for it, so
   * that those who keep a bot's room full do not keep it waiting for ever.
   */
  admitDue<Result>(db: Database, botId: string, store: () => Promise<Result>): Promise<Result>
}

/** A process may store so much of what a bot may have waiting before it looks how many there are. */
const partBetweenLooks = 1 / 10
const minPauseMilliseconds = 1000
/** Looks while bots are full may take this part of the time: they read all events that wait. */
const partOfTime = 1 / 10
const maxBots = 10_000
/** What is due may fill so many times the room of what comes now. */
const roomForDue = 11 / 10

/** What this process may still store for a bot, or until when it stores nothing for it. */
type Allowance = { left: number } | { fullUntil: number }

/**
 * Counts what this process stores, and asks the database how many events wait only now and then: so nearly all requests
 * cost nothing, and with several processes a bot may come to have somewhat more than `most`, by a tenth of it for each
 * process.
 *
 * @param most how many events of one bot may wait
 */
export function openBacklogLimit(most: number): BacklogLimit {
  const incoming = openRoom(most)
  const due = openRoom(Math.ceil(most * roomForDue))
  return {
    admit: (db, botId, store) => incoming(db, botId, 1, store),
    admitSome: incoming,
    admitDue: (db, botId, store) => due(db, botId, 1, store),
  }
}

function openRoom(most: number): BacklogLimit['admitSome'] {
  const allowanceSize = Math.ceil(most * partBetweenLooks)
  const allowances = new LRUCache<string, Allowance>({ max: maxBots })
  /** How many events are just being stored, which a look may not see yet. */
  const inFlight = new Map<string, number>()
  let look: Promise<void> | undefined

  async function lookAtAll(db: Database): Promise<void> {
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

  /** @returns whether the event may be stored without a look */
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

  async function assertRoom(db: Database, botId: string): Promise<void> {
    while (!spend(botId)) {
      if (isKnownFull(botId)) throw full(most)
      // Another's look fails with its connection; then the next is ours.
      if (look) await look.catch(() => {})
      else await (look = lookAtAll(db).finally(() => (look = undefined)))
    }
  }

  /** @returns how many events may be stored, of those that are wanted */
  async function takeRoom(db: Database, botId: string, wanted: number): Promise<number> {
    await assertRoom(db, botId)
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
    const allowed = await takeRoom(db, botId, wanted)
    count(botId, allowed)
    try {
      return await store(allowed)
    } finally {
      count(botId, -allowed)
    }
  }
}

/** Whether an event was refused because too many wait. */
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
