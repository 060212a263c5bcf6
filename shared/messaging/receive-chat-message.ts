import type { ChatUser } from '../rpc/caller.ts'
import type { Context } from '../context.ts'
import { newId } from '../ids.ts'
import { messageCreated } from '../models/event.ts'
import { toMessage, type Message } from '../models/message.ts'
import { toContent, type ChatPayload } from '../models/payload.ts'
import { publishEntry, wakeWorker } from '../signals/after-commit.ts'
import { toLogEntry } from '../store/conversation-log.ts'
import { storeIncoming } from '../store/message-batches.ts'

/** A message of a chat user, with the conversation by the id that the client uses. */
export interface ChatMessage {
  conversationId: string
  payload: ChatPayload
  metadata?: Record<string, unknown> | undefined
  /** The id of the event that makes the bot handle it; a new one unless given. */
  eventId?: string
}

/**
 * Stores a message of a chat user with its event, and wakes a worker for it.
 *
 * @returns undefined when the user is not a participant of the conversation
 * @throws ApiError `RateLimited` when too many events of the bot wait
 */
export async function receiveChatMessage(
  context: Context & { caller: Pick<ChatUser, 'installation' | 'externalId' | 'key'> },
  { conversationId, payload, metadata, eventId = newId('evt') }: ChatMessage,
): Promise<Message | undefined> {
  const { db, caller } = context
  const { installation, externalId, key } = caller
  const incoming = {
    id: newId('msg'),
    botId: installation.bot_id,
    installationId: installation.id,
    externalConversationId: conversationId,
    ...key,
    ...toContent(payload),
    ...(metadata && { metadata }),
    event: { id: eventId, type: messageCreated, integration: installation.integration },
  }
  const row = await context.waiting.admit(db, incoming.botId, () => storeIncoming(db, incoming))
  if (!row) return undefined
  const created = toMessage(row, { conversationId, userId: externalId })
  // If a reply overtakes the user's own signal, listeners detect the gap by `sequence` and read the log.
  await Promise.all([
    publishEntry(context, toLogEntry(row), { type: 'message_created', data: { ...created, isBot: false } }),
    wakeWorker(context, 'message', row.conversation_id, row.bot_id),
  ])
  return created
}
