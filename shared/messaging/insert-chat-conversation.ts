import type { Context } from '../context.ts'
import { newId } from '../ids.ts'
import type { ChatUser } from '../rpc/caller.ts'
import { wakeWorker } from '../signals/after-commit.ts'
import { insertConversation, type CreatedConversation, type NewConversation } from '../store/conversations.ts'
import type { ConversationRow } from '../models/tables.ts'

/** The one channel of the chat integration. */
const chatChannel = 'channel'

/**
 * Stores a conversation of a chat user. A flow of the bot may begin with it, so it counts toward the bot's backlog limit.
 *
 * @returns undefined when the external id is taken
 * @throws ApiError `RateLimited` when too many events of the bot wait
 */
export async function insertChatConversation(
  context: Context & { caller: Pick<ChatUser, 'installation'> },
  given: Pick<NewConversation, 'ownerId' | 'tags' | 'externalId'>,
): Promise<CreatedConversation<ConversationRow> | undefined> {
  const { db, waiting, caller } = context
  const { bot_id: botId, id: installationId } = caller.installation
  const conversation = { ...given, id: newId('conv'), botId, installationId, channel: chatChannel }
  const row = await waiting.admit(db, botId, () => insertConversation(db, conversation))
  if (row?.has_started_event) await wakeWorker(context, 'event', row.id, botId)
  return row
}
