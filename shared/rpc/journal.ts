import { createHash } from 'node:crypto'
import type { LRUCache } from 'lru-cache'
import type { BotContext, Execution } from './caller.ts'
import type { Context } from '../context.ts'
import { ApiError, isOutage, postgresCode, uniqueViolation } from '../errors.ts'
import { isRecord } from '../models/payload.ts'
import {
  eventExists,
  findJournalEntry,
  insertJournalEntry,
  isNewestRun,
  replaceJournalEntry,
  type JournalKey,
  type NewJournalEntry,
} from '../store/journal.ts'
import { transact, type Database } from '../store/database.ts'
import { acrossOutages } from './across-outages.ts'
import { inStoredOrder } from './stored-order.ts'

/**
 * A reply is sent once. A run that dies half-way runs again and repeats its writing calls in the same order; calls that
 * were performed before are answered from the journal. The key of an entry is the event, the operation and the call
 * number, not the input, because a second run may word a reply differently (a language model does). A call of a language
 * model itself has the hash of its input as a part of its operation, and its number is that among calls of the same input.
 *
 * A recorded call is answered also when rows that it names were deleted after it, for instance by the same event: handlers
 * check the rows that an input names in `write`, and read their answer there too.
 *
 * The journal does not cover the work that follows a write (signals, wake-ups): handlers do it after `once`, for
 * performed and replayed calls, so that it happens even when the first run died before it.
 */

/** A call of a run that is no longer the newest of its event: it must have no further effect. */
class StaleAttemptError extends ApiError {
  constructor(reason: string) {
    super('ResourceLockedConflict', `${reason}: this run may no longer write`)
  }
}

/** The error of a call of a run that is not the newest of its event. */
export async function staleAttempt(db: Database, eventId: string): Promise<ApiError> {
  const exists = await eventExists(db, eventId)
  return new StaleAttemptError(exists ? 'Another run of this event has begun' : 'The event of this run was deleted')
}

/** The run that makes a call, and the key of the call. */
export type JournalledRun = Pick<Execution, 'eventId' | 'attempt' | 'call' | 'isRetried'>

type RunContext = Pick<Context, 'db' | 'log'> & { caller: { execution?: JournalledRun } }

/**
 * Performs a call once, in one transaction with its journal entry. A call from outside a run has no journal entry.
 *
 * @param input of the call, to log when a repeated call differs
 * @param write performs the call in the transaction, and again when another one has it aborted; its result must be plain JSON
 */
export async function once<Result>(
  context: BotContext,
  input: unknown,
  write: (db: Database) => Promise<Result>,
): Promise<Result> {
  const entry = openEntry(context, input)
  if (!entry) return transact(context.db, write)
  return entry.replayOr(() =>
    transact(context.db, async (transaction) => {
      const result = await write(transaction)
      await entry.record(transaction, result)
      return result
    }),
  )
}

/**
 * Like `once`, for a write that a repeated run makes again, because code goes on to use it outside of the journal.
 *
 * @param again makes the write again, after the recorded result of the last time, which its own result replaces
 */
export async function onceEachRun<Result>(
  context: RunContext,
  input: unknown,
  write: (db: Database) => Promise<Result>,
  again: (db: Database, recorded: Result) => Promise<Result>,
): Promise<Result> {
  const entry = openEntry(context, input)
  if (!entry) return transact(context.db, write)
  let written: { result: Result } | undefined
  const recorded = await entry.replayOr(async () => {
    const result = await transact(context.db, async (transaction) => {
      const result = await write(transaction)
      await entry.record(transaction, result)
      return result
    })
    written = { result }
    return result
  })
  if (written) return written.result
  return transact(context.db, async (transaction) => {
    const result = await again(transaction, recorded)
    await entry.replace(transaction, result)
    return result
  })
}

/**
 * Like `once`, for a deletion that may remove the run's own event: the journal entry is inserted first, while the event
 * exists.
 */
export async function recordThenDelete(
  context: BotContext,
  input: unknown,
  remove: (db: Database) => Promise<void>,
): Promise<void> {
  const entry = openEntry(context, input)
  if (!entry) return transact(context.db, remove)
  await entry.replayOr(() =>
    transact(context.db, async (transaction) => {
      await entry.record(transaction, {})
      await remove(transaction)
    }),
  )
}

/**
 * Like `once`, for a row that is inserted in one statement with its journal entry, which saves the three round trips of
 * a transaction. The entry contains only the row's id.
 *
 * @param row its id, its insertion (undefined when a row that it refers to does not exist), and its lookup by id
 * @returns the id of the row, and the row itself unless it was deleted since; undefined when it was not inserted
 */
export async function onceStored<Row>(
  context: BotContext,
  input: unknown,
  row: {
    id: string
    insert(effect?: NewJournalEntry): Promise<Row | undefined>
    find(id: string): Promise<Row | undefined>
  },
): Promise<{ id: string; row: Row | undefined } | undefined> {
  const entry = openEntry(context, input)
  let inserted: Row | undefined
  const insert = async (effect?: NewJournalEntry) => {
    inserted = await row.insert(effect)
    if (!inserted) await entry?.assertNewest()
    return { id: row.id }
  }
  const { id } = entry ? await entry.replayOr(() => insert(entry.effect({ id: row.id }))) : await insert()
  if (id !== row.id) return { id, row: await row.find(id) }
  return inserted && { id, row: inserted }
}

/**
 * Like `once`, for a write that needs work which would hold the transaction for long.
 *
 * @param perform does that work, which is left out when the call is replayed, and then one write in `transact`
 */
export async function oncePrepared<Result>(
  context: BotContext,
  input: unknown,
  perform: (transact: (write: (transaction: Database) => Promise<Result>) => Promise<Result>) => Promise<Result>,
): Promise<Result> {
  const entry = openEntry(context, input)
  const writeOnce = (write: (transaction: Database) => Promise<Result>) =>
    transact(context.db, async (transaction) => {
      const result = await write(transaction)
      await entry?.record(transaction, result)
      return result
    })
  return entry ? entry.replayOr(() => perform(writeOnce)) : perform(writeOnce)
}

/**
 * Like `once`, for a call that is more than a write: it is performed outside any transaction and recorded afterwards. A
 * run that dies in between performs it again.
 */
export async function recordAfter<Result>(
  context: BotContext,
  input: unknown,
  perform: () => Promise<Result>,
): Promise<Result> {
  const entry = openEntry(context, input)
  if (!entry) return perform()
  return entry.replayOr(async () => {
    const result = await perform()
    await entry.record(context.db, result)
    return result
  })
}

/**
 * Like `recordAfter`, for a call that costs money, which is not made again while this process has its result: not by the
 * attempts that the run's entry point makes during an outage of the database, nor by a later run of the event.
 *
 * @param unrecorded the calls of this process that are in flight or whose results are not recorded yet
 */
export async function recordPaid<Result>(
  context: BotContext,
  input: unknown,
  unrecorded: LRUCache<string, Promise<unknown>>,
  perform: () => Promise<Result>,
): Promise<Result> {
  const entry = openEntry(context, input)
  if (!entry) return perform()
  const { id } = entry
  let performed = unrecorded.get(id) as Promise<Result> | undefined
  if (!performed) {
    // Also in a first attempt: the result of a call that was cut off by an outage may have been recorded since.
    const recorded = await entry.recall()
    if (recorded) return recorded.result as Result
    performed = unrecorded.get(id) as Promise<Result> | undefined
  }
  if (!performed) {
    const own = perform()
    performed = own
    unrecorded.set(id, own)
    own.catch(() => {
      if (unrecorded.peek(id) === own) unrecorded.delete(id)
    })
  }
  return recordKept(context, entry, unrecorded, await performed)
}

/** Records the result of a paid call, which stays in the memory of the process until it is recorded. */
async function recordKept<Result>(
  { db }: BotContext,
  entry: JournalEntry,
  unrecorded: LRUCache<string, Promise<unknown>>,
  result: Result,
): Promise<Result> {
  try {
    await entry.record(db, result)
  } catch (error) {
    // A newer run of the event records the result.
    if (isOutage(error) || error instanceof StaleAttemptError) throw error
    unrecorded.delete(entry.id)
    const other = postgresCode(error) === uniqueViolation ? await entry.recall() : undefined
    if (!other) throw error
    return other.result as Result
  }
  unrecorded.delete(entry.id)
  return inStoredOrder(result)
}

/**
 * Like `recordPaid`, for a call whose result comes in pieces, and is recorded before the reader knows that it is complete.
 *
 * @returns the result that an earlier run has recorded; or the pieces, then the result, which have to be read to their end
 */
export async function recordPaidStream<Piece, Result>(
  context: BotContext,
  input: unknown,
  unrecorded: LRUCache<string, Promise<unknown>>,
  perform: () => AsyncGenerator<Piece, Result, void>,
): Promise<{ recorded: Result } | { pieces: AsyncGenerator<Piece, Result, void> }> {
  const entry = openEntry(context, input)
  if (!entry) return { pieces: perform() }
  const { id } = entry
  const recorded = unrecorded.has(id) ? undefined : await entry.recall()
  if (recorded) return { recorded: recorded.result as Result }
  const performed = unrecorded.get(id) as Promise<Result> | undefined
  if (performed) return { recorded: await recordKept(context, entry, unrecorded, await performed) }

  const { promise, resolve, reject } = Promise.withResolvers<Result>()
  unrecorded.set(id, promise)
  promise.catch(() => {
    if (unrecorded.peek(id) === promise) unrecorded.delete(id)
  })
  return { pieces: read() }

  async function* read(): AsyncGenerator<Piece, Result, void> {
    let result: Result
    try {
      result = yield* perform()
      resolve(result)
    } catch (error) {
      reject(error)
      throw error
    }
    // The run cannot make its call again.
    return acrossOutages(context, () => recordKept(context, entry!, unrecorded, result))
  }
}

/** The SHA-256 of a value as JSON, the same for each order of the fields of its objects. */
export function hashOf(value: unknown): string {
  const text = JSON.stringify(value, (_name, part: unknown) =>
    isRecord(part) ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1))) : part,
  )
  return createHash('sha256').update(text).digest('base64url')
}

type JournalEntry = NonNullable<ReturnType<typeof openEntry>>

/** The journal entry of one call of a run; undefined for a call from outside a run. */
function openEntry({ db, log, caller }: RunContext, input: unknown) {
  const { execution } = caller
  if (!execution) return undefined
  const { eventId, attempt, isRetried = false } = execution
  const key: JournalKey = { eventId, ...execution.call }
  const inputHash = createHash('sha256').update(JSON.stringify(input)).digest('base64url')

  async function recall(): Promise<{ result: unknown } | undefined> {
    const recorded = await findJournalEntry(db, key)
    if (!recorded) return undefined
    if (recorded.input_hash !== inputHash) {
      log.warn({ ...key }, 'A repeated call differs from the recorded one; its recorded answer is used')
    }
    return { result: recorded.result }
  }

  return {
    /** Identifies the call, in all runs of the event. */
    id: JSON.stringify(key),

    /** The recorded result. */
    recall,

    effect: (result: unknown): NewJournalEntry => ({ ...key, attempt, inputHash, result }),

    async record(on: Database, result: unknown): Promise<void> {
      if (!(await insertJournalEntry(on, this.effect(result)))) throw await staleAttempt(on, eventId)
    },

    async replace(on: Database, result: unknown): Promise<void> {
      if (!(await replaceJournalEntry(on, this.effect(result)))) throw await staleAttempt(on, eventId)
    },

    async assertNewest(): Promise<void> {
      if (!(await isNewestRun(db, execution))) throw await staleAttempt(db, eventId)
    },

    /**
     * Answers from the journal, or performs the call. If two runs perform it concurrently, one returns the other's
     * result.
     */
    async replayOr<Result>(perform: () => Promise<Result>): Promise<Result> {
      // A first attempt has recorded only calls whose answers were lost.
      const recorded = attempt > 1 || isRetried ? await recall() : undefined
      if (recorded) return recorded.result as Result
      try {
        return inStoredOrder(await perform())
      } catch (error) {
        const other = postgresCode(error) === uniqueViolation ? await recall() : undefined
        if (!other) throw error
        return other.result as Result
      }
    },
  }
}
