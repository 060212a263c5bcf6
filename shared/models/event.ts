import type { EventRow } from './tables.ts'
import { closedObject, type Infer } from '../schema.ts'
import type { ExternalIds } from './message.ts'

/** The type of the event that a chat message makes, and of the one that a chat client creates itself. */
export const messageCreated = 'message_created'
export const chatCustom = 'chat:custom'
/** The event behind an action that is called over HTTP. */
export const actionTriggered = 'action_triggered'
/** A state of the bot's has been idle for as long as it was to be kept. */
export const stateExpired = 'state_expired'
/** Something happened to a workflow; the payload's `type` says what. */
export const workflowUpdate = 'workflow_update'
/** A message that is to be said later. The event is its place in the calendar; no code sees it. */
export const messageScheduled = 'message_scheduled'
/** What an integration's code handles, besides messages and actions. */
export const webhookReceived = 'webhook_received'
export const register = 'register'
export const unregister = 'unregister'

/** The platform makes these itself, with what belongs to them; nobody else may. */
export const reservedTypes: readonly string[] = [
  messageCreated,
  chatCustom,
  actionTriggered,
  stateExpired,
  workflowUpdate,
  messageScheduled,
  webhookReceived,
  register,
  unregister,
]

/** A custom event as the chat API shows it. */
export const chatEvent = closedObject({
  id: { type: 'string' },
  createdAt: { type: 'string', format: 'date-time' },
  payload: { type: 'object' },
  conversationId: { type: 'string' },
  userId: { type: 'string' },
})

export type ChatEvent = Infer<typeof chatEvent>

export function toChatEvent(row: EventRow, known: ExternalIds): ChatEvent {
  return { id: row.id, createdAt: row.created_at.toISOString(), payload: row.payload, ...known }
}

export const eventStatuses = ['scheduled', 'canceled', 'pending', 'processed', 'ignored', 'failed'] as const

/** An event as the runtime API shows it. */
export const runtimeEvent = closedObject(
  {
    id: { type: 'string' },
    createdAt: { type: 'string', format: 'date-time' },
    type: { type: 'string' },
    payload: { type: 'object' },
    status: { enum: eventStatuses },
    failureReason: { type: ['string', 'null'] },
  },
  { conversationId: { type: 'string' }, userId: { type: 'string' }, messageId: { type: 'string' } },
)

export type RuntimeEvent = Infer<typeof runtimeEvent>

/** @param installation as which the caller acts, if any: it knows its own types by their bare names */
export function toRuntimeEvent(row: EventRow, installation?: { alias: string }): RuntimeEvent {
  const prefix = installation ? integrationType(installation, '') : ''
  return {
    id: row.id,
    createdAt: row.created_at.toISOString(),
    type: row.type.startsWith(prefix) ? row.type.slice(prefix.length) : row.type,
    payload: row.payload,
    status: row.status,
    failureReason: row.failure_reason,
    ...(row.conversation_id && { conversationId: row.conversation_id }),
    ...(row.user_id && { userId: row.user_id }),
    ...(row.message_id && { messageId: row.message_id }),
  }
}

/** What the bot knows an event's type by that an installed integration created. */
export function integrationType({ alias }: { alias: string }, type: string): string {
  return `${alias}:${type}`
}
