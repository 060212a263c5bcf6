import type { ConversationRow } from '../store/tables.ts'
import type { Infer } from '../schema.ts'

/** A conversation as the chat API shows it. */
export const conversation = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'createdAt', 'updatedAt'],
  properties: {
    id: { type: 'string' },
    createdAt: { type: 'string', format: 'date-time' },
    updatedAt: { type: 'string', format: 'date-time' },
  },
} as const

export type Conversation = Infer<typeof conversation>

/** @param id the id to show: what the client knows the conversation by */
export function toConversation(row: ConversationRow, id = row.foreign_id ?? row.id): Conversation {
  return { id, createdAt: row.created_at.toISOString(), updatedAt: row.updated_at.toISOString() }
}

/** A conversation as the runtime API shows it to bots. */
export const runtimeConversation = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'createdAt', 'updatedAt', 'channel', 'integration', 'tags'],
  properties: {
    ...conversation.properties,
    channel: { type: 'string' },
    integration: { type: 'string' },
    tags: { type: 'object', additionalProperties: { type: 'string' } },
  },
} as const

export function toRuntimeConversation(
  row: ConversationRow & { integration: string },
): Infer<typeof runtimeConversation> {
  return { ...toConversation(row, row.id), channel: row.channel, integration: row.integration, tags: row.tags }
}
