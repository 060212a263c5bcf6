import type { Context } from '#shared/context.ts'
import { toRuntimeConversation } from '#shared/models/conversation.ts'
import { toRuntimeMessage } from '#shared/models/message.ts'
import type { Viewer } from '#shared/models/tags.ts'
import { toRuntimeUser } from '#shared/models/user.ts'
import { findMessage } from '#shared/store/messages.ts'
import { findRuntimeConversation } from '#shared/store/runtime-conversations.ts'
import type { EventRow } from '#shared/models/tables.ts'
import { findUser } from '#shared/store/users.ts'

/**
 * The message of an event, its conversation and its user, as the runtime API shows them.
 *
 * @param viewer the viewer of the tags; the bot by default
 * @returns undefined when the message or its conversation was deleted meanwhile
 */
export async function findMessageContext({ db }: Pick<Context, 'db'>, event: EventRow, viewer: Viewer = {}) {
  const { bot_id: botId, message_id: messageId } = event
  const message = messageId === null ? undefined : await findMessage(db, botId, messageId)
  if (!message) return undefined
  const [conversation, user] = await Promise.all([
    findRuntimeConversation(db, { botId }, message.conversation_id),
    findUser(db, botId, message.user_id),
  ])
  if (!conversation) return undefined
  return {
    message: toRuntimeMessage(message, viewer),
    conversation: toRuntimeConversation(conversation, viewer),
    user: user && toRuntimeUser(user, viewer),
  }
}
