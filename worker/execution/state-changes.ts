import type { Json, JsonObject } from '#sandbox/protocol/contract.ts'
import { newId } from '#shared/ids.ts'
import { storedLength } from '#shared/json/exponents.ts'
import { stateLimit } from '#shared/models/state.ts'
import type { StateChange } from '#shared/store/complete-events.ts'
import type { ClaimedEvent } from '#shared/store/mailboxes.ts'
import { initialState } from '../calls/event-object.ts'
import { InvalidStateError } from '../calls/invalid-state-error.ts'

/** A session expires when its conversation has been idle for this time. */
const sessionMilliseconds = 30 * 60 * 1000

/**
 * The changes of a run to `event.state`. Only changed top-level keys are written, so that concurrent conversations do not
 * undo each other's changes.
 *
 * @throws InvalidStateError when a part is not an object or is too large
 */
export function stateChanges(event: ClaimedEvent, after: JsonObject): StateChange[] {
  const before = initialState(event)
  const parts = [
    { part: 'bot', type: 'bot', ownerId: event.bot_id, name: 'state' },
    { part: 'user', type: 'user', ownerId: event.user_id, name: 'state' },
    { part: 'conversation', type: 'conversation', ownerId: event.conversation_id, name: 'state' },
    { part: 'session', type: 'conversation', ownerId: event.conversation_id, name: 'session' },
  ] as const
  const changes: StateChange[] = []
  for (const { part, type, ownerId, name } of parts) {
    const left = asObject(part, after[part])
    const difference = compare(asObject(part, before[part]), left)
    const isSession = name === 'session' && Object.keys(left).length > 0
    if (!difference && !isSession) continue
    if (!ownerId)
      throw new InvalidStateError(`event.state.${part} was changed, but this event has no ${type} that could own it`)
    const size = storedLength(JSON.stringify(left))
    if (size > stateLimit) {
      throw new InvalidStateError(
        `event.state.${part} has ${Math.ceil(size / 1024)} KB, more than its maximum of ${stateLimit / 1024} KB`,
      )
    }
    changes.push({
      id: newId('state'),
      type,
      ownerId,
      name,
      ...(difference ?? { set: {}, removed: [] }),
      ...(isSession && { expiry: sessionMilliseconds }),
    })
  }
  return changes
}

function asObject(part: string, value: Json | undefined): JsonObject {
  if (value === undefined) return {}
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw new InvalidStateError(`event.state.${part} must be an object`)
}

function compare(before: JsonObject, after: JsonObject): Pick<StateChange, 'set' | 'removed'> | undefined {
  const set: JsonObject = {}
  for (const [key, value] of Object.entries(after)) {
    if (JSON.stringify(value) !== JSON.stringify(before[key])) set[key] = value
  }
  const removed = Object.keys(before).filter((key) => !Object.hasOwn(after, key))
  return Object.keys(set).length + removed.length > 0 ? { set, removed } : undefined
}
