import { createHash } from 'node:crypto'
import type { BotContext } from './caller.ts'
import { ApiError, postgresCode, uniqueViolation } from '../errors.ts'
import {
  findJournalEntry,
  insertJournalEntry,
  isNewestRun,
  type JournalKey,
  type NewJournalEntry,
} from '../store/journal.ts'
import type { Database } from '../store/database.ts'

/**
 * A reply happens once. A run that dies half-way runs again, and its writing calls come again in the same order; a call
 * that was performed before is answered from the journal instead. Its key is the event, the operation and how manieth
 * call of it: not the input, because a second run may word a reply differently (a language model does).
 *
 * What follows a write (signals, wake-ups) is no part of it: handlers do that after `once`, recorded or not, so that it
 * happens even when the first run died in between.
 */

/** A run called although a newer run of its event has begun: whatever it still does must have no effect. */
class StaleAttemptError extends ApiError {
  constructor() {
    super('ResourceLockedConflict', 'Another run of this event has begun: this run may no longer write')
  }
}

/**
 * Writes once for each call of an event's handling, in one transaction with the journal's entry. A call from outside a
 * run is simply performed.
 *
 * @param input what the call was made with, to note when a repeated call differs
 * @param write performs the call; its result must be plain JSON
 */
export async function once<Result>(
  context: BotContext,
  input: unknown,
  write: (db: Database) => Promise<Result>,
): Promise<Result> {
  const entry = openEntry(context, input)
  if (!entry) return write(context.db)
  return entry.replayOr(() =>
    context.db.transaction(async (transaction) => {
      const result = await write(transaction)
      await entry.record(transaction, result)
      return result
    }),
  )
}

/**
 * Like `once`, for what may take the run's own event with it: the journal's entry comes first, while the event is there.
 *
 * @param remove gives nothing
 */
export async function recordThenDelete(
  context: BotContext,
  input: unknown,
  remove: (db: Database) => Promise<void>,
): Promise<void> {
  const entry = openEntry(context, input)
  if (!entry) return remove(context.db)
  await entry.replayOr(() =>
    context.db.transaction(async (transaction) => {
      await entry.record(transaction, {})
      await remove(transaction)
    }),
  )
}

/**
 * Like `once`, for a row that is stored in one statement with the journal's entry, which saves the three round trips of
 * a transaction. The entry keeps the row's id alone.
 *
 * @param row its id, how it is stored (undefined when what it refers to is not there), and how it is found again
 */
export async function onceStored<Row>(
  context: BotContext,
  input: unknown,
  row: {
    id: string
    insert(effect?: NewJournalEntry): Promise<Row | undefined>
    find(id: string): Promise<Row | undefined>
  },
): Promise<Row | undefined> {
  const entry = openEntry(context, input)
  if (!entry) return row.insert()
  let inserted: Row | undefined
  const { id } = await entry.replayOr(async () => {
    inserted = await row.insert(entry.effect({ id: row.id }))
    if (!inserted) await entry.assertNewest()
    return { id: row.id }
  })
  return id === row.id ? inserted : row.find(id)
}

/**
 * Like `once`, for a call that is more than a write: it is performed outside any transaction and recorded when it is
 * through. A run that dies in the middle performs it again.
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

/** The journal's place for one call of a run; undefined for a call from outside of any. */
function openEntry({ db, log, caller }: BotContext, input: unknown) {
  const { execution } = caller
  if (!execution) return undefined
  const { eventId, attempt } = execution
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
    effect: (result: unknown): NewJournalEntry => ({ ...key, attempt, inputHash, result }),

    async record(on: Database, result: unknown): Promise<void> {
      if (!(await insertJournalEntry(on, this.effect(result)))) throw new StaleAttemptError()
    },

    async assertNewest(): Promise<void> {
      if (!(await isNewestRun(db, execution))) throw new StaleAttemptError()
    },

    /** Answers from the journal, or performs the call. Of two that perform it at once, one gets the other's answer. */
    async replayOr<Result>(perform: () => Promise<Result>): Promise<Result> {
      // The first run finds nothing recorded, so it does not look.
      const recorded = attempt > 1 ? await recall() : undefined
      if (recorded) return recorded.result as Result
      try {
        return await perform()
      } catch (error) {
        const other = postgresCode(error) === uniqueViolation ? await recall() : undefined
        if (!other) throw error
        return other.result as Result
      }
    },
  }
}
