import type { MessageRow } from './tables.ts'
import { closedObject, type Infer } from '../schema.ts'
import { toChatPayload } from './payload.ts'
import { tags, toSeenTags, type Viewer } from './tags.ts'

/** A message as the chat API shows it. */
export const message = closedObject(
  {
    id: { type: 'string' },
    createdAt: { type: 'string', format: 'date-time' },
    payload: { type: 'object' },
    userId: { type: 'string' },
    conversationId: { type: 'string' },
  },
  { metadata: { type: 'object' } },
)

export type Message = Infer<typeof message>

/** The ids that a client uses for a message's conversation and user, where they differ from the internal ones. */
export interface ExternalIds {
  conversationId: string
  userId: string
}

export function toMessage(
  row: Pick<MessageRow, 'id' | 'type' | 'payload' | 'metadata' | 'created_at'>,
  known: ExternalIds,
): Message {
  return {
    id: row.id,
    createdAt: row.created_at.toISOString(),
    payload: toChatPayload(row),
    userId: known.userId,
    conversationId: known.conversationId,
    ...(row.metadata && { metadata: row.metadata }),
  }
}

/** A message as the runtime API shows it to bots and integrations. */
export const runtimeMessage = closedObject(
  {
    id: { type: 'string' },
    createdAt: { type: 'string', format: 'date-time' },
    updatedAt: { type: 'string', format: 'date-time' },
    type: { type: 'string' },
    payload: { type: 'object' },
    direction: { enum: ['incoming', 'outgoing'] },
    userId: { type: 'string' },
    conversationId: { type: 'string' },
    tags,
  },
  { origin: { enum: ['synthetic'] } },
)

export type RuntimeMessage = Infer<typeof runtimeMessage>

/**
 * A message's `metadata` is sent to bots inside the payload, as published bots expect it.
 *
 * @param viewer the bot by default
 */
export function toRuntimeMessage(row: MessageRow, viewer: Viewer = {}): RuntimeMessage {
  return {
    id: row.id,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    type: row.type,
    payload: row.metadata ? { ...row.payload, metadata: row.metadata } : row.payload,
    direction: row.direction,
    userId: row.user_id,
    conversationId: row.conversation_id,
    tags: toSeenTags(viewer, row.tags),
    ...(row.origin && { origin: row.origin }),
  }
}
