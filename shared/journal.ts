import { createHash } from 'node:crypto'
import type { BotCaller } from './caller.ts'
import type { Context } from './context.ts'
import { ApiError, postgresCode, uniqueViolation } from './errors.ts'
import { findEffect, insertEffect, type EffectKey } from './store/effects.ts'
import type { Database } from './store/database.ts'

/**
 * A reply happens once. A run that dies half-way runs again, and its writing calls come again in the same order; a call
 * that was performed before is answered from the journal instead. Its key is the event, the operation and how manieth
 * call of it: not the input, because a second run may word a reply differently (a language model does).
 *
 * What follows a write (signals, wake-ups) is no part of it: handlers do that after `once`, recorded or not, so that it
 * happens even when the first run died in between.
 */

type JournalContext = Context & { caller: BotCaller }

/** A run called although a newer run of its event has begun: whatever it still does must have no effect. */
class TakenOver extends ApiError {
  constructor() {
    super('ResourceLockedConflict', 'Another run of this event has begun: this one may write nothing more')
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
  context: JournalContext,
  input: unknown,
  write: (db: Database) => Promise<Result>,
): Promise<Result> {
  const { execution } = context.caller
  if (!execution) return write(context.db)
  return performOnce(context, input, (record) =>
    context.db.transaction(async (transaction) => {
      const result = await write(transaction)
      await record(transaction, result)
      return result
    }),
  )
}

/**
 * Like `once`, for a call that is more than a write: it is performed outside any transaction and recorded when it is
 * through. A run that dies in the middle performs it again.
 */
export async function onceThrough<Result>(
  context: JournalContext,
  input: unknown,
  perform: () => Promise<Result>,
): Promise<Result> {
  if (!context.caller.execution) return perform()
  return performOnce(context, input, async (record) => {
    const result = await perform()
    await record(context.db, result)
    return result
  })
}

type Record = (db: Database, result: unknown) => Promise<void>

async function performOnce<Result>(
  context: JournalContext,
  input: unknown,
  perform: (record: Record) => Promise<Result>,
): Promise<Result> {
  const { execution } = context.caller
  if (!execution) throw new Error('Only a run has a journal')
  const key: EffectKey = { eventId: execution.eventId, ...execution.call }
  const inputHash = createHash('sha256').update(JSON.stringify(input)).digest('base64url')

  // The first run finds nothing recorded, so it does not look.
  if (execution.attempt > 1) {
    const recorded = await recall(context, key, inputHash)
    if (recorded) return recorded.result as Result
  }
  try {
    return await perform(async (db, result) => {
      const recorded = await insertEffect(db, { ...key, attempt: execution.attempt, inputHash, result })
      if (!recorded) throw new TakenOver()
    })
  } catch (error) {
    if (postgresCode(error) !== uniqueViolation) throw error
    const recorded = await recall(context, key, inputHash)
    if (!recorded) throw error
    return recorded.result as Result
  }
}

async function recall(
  context: JournalContext,
  key: EffectKey,
  inputHash: string,
): Promise<{ result: unknown } | undefined> {
  const effect = await findEffect(context.db, key)
  if (!effect) return undefined
  if (effect.input_hash !== inputHash) {
    context.log.warn({ ...key }, 'A repeated call differs from the one that was performed; its recorded answer stands')
  }
  return { result: effect.result }
}
