import { wakeWorker } from './after-commit.ts'
import { awaitOutcome } from './await-outcome.ts'
import type { Context } from './context.ts'
import { ApiError } from './errors.ts'
import { newId } from './ids.ts'
import { actionTriggered } from './models/event.ts'
import { findDeployedVersion } from './store/bots.ts'
import { findEvent, insertEvent } from './store/events.ts'

const graceMilliseconds = 5000

/**
 * Has a worker run a bot's action, for a caller who is not in the sandbox. The call is an event like any other, with a
 * mailbox of its own: it survives the worker that runs it, and its result is kept with it.
 *
 * @returns the action's output
 * @throws ApiError `Runtime` when the action fails, `ReferenceNotFound` when the bot has none of that name
 */
export async function callActionRemotely(
  context: Context,
  botId: string,
  type: string,
  input: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const { db, signals, config } = context
  const version = await findDeployedVersion(db, botId)
  if (!version?.actions.includes(type)) throw unknownAction(type, version?.actions)
  const id = newId('evt')
  const event = await awaitOutcome(signals, id, {
    async ask() {
      await insertEvent(db, { id, botId, type: actionTriggered, payload: { type, input } })
      await wakeWorker(context, 'event', id)
    },
    async look() {
      const row = await findEvent(db, botId, id)
      if (!row) throw new ApiError('ResourceNotFound', 'The bot was deleted while its action ran')
      return row.status === 'pending' ? undefined : row
    },
    timeoutMilliseconds: config.sandbox.wallMilliseconds + graceMilliseconds,
    timeoutMessage: `The action has not ended in time; it goes on, and event ${id} will tell how it ended`,
  })
  if (event.status === 'processed') return (event.result ?? {}) as Record<string, unknown>
  throw new ApiError('Runtime', event.failure_reason ?? 'The action failed', { metadata: { eventId: id } })
}

/** @param actions the names that the bot does have; absent when it has no code */
export function unknownAction(type: string, actions: string[] = []): ApiError {
  const choice = actions.length > 0 ? `it has ${actions.join(', ')}` : 'it has none'
  return new ApiError('ReferenceNotFound', `The bot has no action '${type}': ${choice}`)
}
