import type { EventRow } from '../store/tables.ts'
import type { Infer } from '../schema.ts'
import type { KnownIds } from './message.ts'

/** The type of the event that a chat message makes, and of the one that a chat client creates itself. */
export const messageCreated = 'message_created'
export const chatCustom = 'chat:custom'
/** The event behind an action that is called over HTTP. */
export const actionTriggered = 'action_triggered'

/** A custom event as the chat API shows it. */
export const chatEvent = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'createdAt', 'payload', 'conversationId', 'userId'],
  properties: {
    id: { type: 'string' },
    createdAt: { type: 'string', format: 'date-time' },
    payload: { type: 'object' },
    conversationId: { type: 'string' },
    userId: { type: 'string' },
  },
} as const

export type ChatEvent = Infer<typeof chatEvent>

export function toChatEvent(row: EventRow, known: KnownIds): ChatEvent {
  return { id: row.id, createdAt: row.created_at.toISOString(), payload: row.payload, ...known }
}

/** An event as the runtime API shows it. */
export const runtimeEvent = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'createdAt', 'type', 'payload', 'status', 'failureReason'],
  properties: {
    id: { type: 'string' },
    createdAt: { type: 'string', format: 'date-time' },
    type: { type: 'string' },
    payload: { type: 'object' },
    status: { enum: ['pending', 'processed', 'ignored', 'failed'] },
    failureReason: { type: ['string', 'null'] },
    conversationId: { type: 'string' },
    userId: { type: 'string' },
    messageId: { type: 'string' },
  },
} as const

export function toRuntimeEvent(row: EventRow): Infer<typeof runtimeEvent> {
  return {
    id: row.id,
    createdAt: row.created_at.toISOString(),
    type: row.type,
    payload: row.payload,
    status: row.status,
    failureReason: row.failure_reason,
    ...(row.conversation_id && { conversationId: row.conversation_id }),
    ...(row.user_id && { userId: row.user_id }),
    ...(row.message_id && { messageId: row.message_id }),
  }
}
