import { newId } from '../ids.ts'
import { isInbox } from '../models/chat-integration.ts'
import { messageCreated } from '../models/event.ts'
import type { MessageRow } from '../models/tables.ts'
import type { BotContext } from '../rpc/caller.ts'
import type { FoundConversation } from '../store/conversations.ts'
import type { StoredOutgoingMessage } from '../store/messages.ts'
import { admitMessage, storeMessage, type ReadyMessage } from './create-message.ts'

/**
 * Stores a member's message, in a transaction: as an outgoing one for the user of the conversation; in a conversation of the
 * inbox as an incoming one, which a plugin of the bot copies to the user.
 *
 * @param ready as prepared for the bot
 * @param userId the author, who stands for the member
 * @returns undefined when the bot has no such conversation
 * @throws ApiError `RateLimited` when too many events of the bot wait
 */
export async function storeReply(
  context: BotContext,
  conversation: FoundConversation,
  ready: ReadyMessage,
  userId: string,
): Promise<MessageRow | StoredOutgoingMessage | undefined> {
  if (ready.direction !== 'outgoing') throw new Error('The message was not prepared for the bot')
  const message = { ...ready.message, userId }
  if (!isInbox(conversation)) return storeMessage(context.db, { direction: 'outgoing', message })
  const { installation_id: installationId, integration } = conversation
  const event = { id: newId('evt'), type: messageCreated, integration }
  return admitMessage(context, { direction: 'incoming', message: { ...message, installationId, event } })
}
