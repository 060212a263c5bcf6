import type { Context } from '#shared/context.ts'
import { toRuntimeConversation } from '#shared/models/conversation.ts'
import { toRuntimeMessage } from '#shared/models/message.ts'
import type { Viewer } from '#shared/models/tags.ts'
import { toRuntimeUser } from '#shared/models/user.ts'
import { findMessage } from '#shared/store/messages.ts'
import { findRuntimeConversation } from '#shared/store/runtime-conversations.ts'
import type { EventRow } from '#shared/models/tables.ts'
import { findUser } from '#shared/store/users.ts'

/** A column that holds a time, as JSON. */
function revive<Row extends object>(row: Row, { updated_at: at, ...columns }: Record<string, unknown>): Row {
  return { ...row, ...columns, updated_at: new Date(String(at)) }
}

/**
 * A message or a conversation that the bot has changed, before and after, as the public SDK takes them.
 *
 * @returns undefined when it was deleted meanwhile
 */
export async function findUpdateContext(context: Pick<Context, 'db'>, event: EventRow, viewer: Viewer) {
  const { bot_id: botId, conversation_id: conversationId, message_id: messageId } = event
  const { previous, current } = event.payload as Record<'previous' | 'current', Record<string, unknown>>
  if (messageId === null) {
    const row = await findRuntimeConversation(context.db, { botId }, conversationId ?? '')
    if (!row) return undefined
    const shown = (columns: Record<string, unknown>) => toRuntimeConversation(revive(row, columns), viewer)
    return { currentConversation: shown(current), previousConversation: shown(previous) }
  }
  const [row, subjects] = await Promise.all([
    findMessage(context.db, botId, messageId),
    findMessageContext(context, event, viewer),
  ])
  if (!row || !subjects) return undefined
  const shown = (columns: Record<string, unknown>) => toRuntimeMessage(revive(row, columns), viewer)
  const { conversation, user } = subjects
  const currentMessage = shown(current)
  const { type, payload } = currentMessage
  return { type, payload, conversation, user, currentMessage, previousMessage: shown(previous) }
}

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
