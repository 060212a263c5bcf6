import type { ConversationRow } from './tables.ts'
import { closedObject, type Infer } from '../schema.ts'
import { tags, toSeenTags, type Viewer } from './tags.ts'

/** A conversation as the chat API shows it. */
export const conversation = closedObject({
  id: { type: 'string' },
  createdAt: { type: 'string', format: 'date-time' },
  updatedAt: { type: 'string', format: 'date-time' },
})

export type Conversation = Infer<typeof conversation>

/** @param id the id to show: the one that the client uses */
export function toConversation(row: ConversationRow, id = row.foreign_id ?? row.id): Conversation {
  return { id, createdAt: row.created_at.toISOString(), updatedAt: row.updated_at.toISOString() }
}

/** A conversation as the runtime API shows it to bots and integrations. */
export const runtimeConversation = closedObject({
  ...conversation.properties,
  channel: { type: 'string' },
  integration: { type: 'string' },
  tags,
  messageCount: { type: 'integer' },
  properties: tags,
})

export type RuntimeConversation = Infer<typeof runtimeConversation>

/** A conversation row, with further fields of the runtime API. */
export interface RuntimeConversationRow extends ConversationRow {
  /** The name of the conversation's integration. */
  integration: string
  message_count: number
  /** Those of its messages that need not be counted again. */
  counted: number
}

/** @param viewer the bot by default */
export function toRuntimeConversation(row: RuntimeConversationRow, viewer: Viewer = {}): RuntimeConversation {
  return {
    ...toConversation(row, row.id),
    channel: row.channel,
    integration: row.integration,
    tags: toSeenTags(viewer, row.tags),
    messageCount: row.message_count,
    properties: row.properties,
  }
}
