import type { Context } from '../context.ts'
import { isInbox } from '../models/chat-integration.ts'
import type { TypingSignal } from '../models/signal.ts'
import type { HandoverRow } from '../models/tables.ts'
import type { BotContext } from '../rpc/caller.ts'
import { closedObject, compile } from '../schema.ts'
import { publishEphemeral } from '../signals/after-commit.ts'
import { findConversation, type FoundConversation } from '../store/conversations.ts'
import { findMemberUser } from '../store/handovers.ts'
import { invalidInput, noSuchConversation, type ChatAction } from './action-input.ts'

const isTyping = compile(
  closedObject(
    { conversationId: { type: 'string', minLength: 1, maxLength: 200 } },
    {
      messageId: { type: 'string' },
      timeout: { type: 'number', minimum: 0, maximum: 600_000, description: 'In milliseconds.' },
    },
  ),
  'body',
)

/** Whether a conversation is one of the integration whose action is called. */
type IsOwn = (conversation: FoundConversation) => boolean

/** The action by which a bot shows a conversation's listeners that it composes an answer. */
export const startTyping =
  (name: string, isOwn: IsOwn): ChatAction =>
  async (context, input: unknown) => {
    if (!isTyping(input)) throw invalidInput(name, isTyping)
    const { conversationId, timeout } = input
    const data = { conversationId, ...(timeout !== undefined && { timeout }) }
    return publishTyping(context, isOwn, { type: 'typing_started', data })
  }

/** The action by which a bot takes that back. */
export const stopTyping =
  (name: string, isOwn: IsOwn): ChatAction =>
  async (context, input: unknown) => {
    if (!isTyping(input)) throw invalidInput(name, isTyping)
    return publishTyping(context, isOwn, { type: 'typing_stopped', data: { conversationId: input.conversationId } })
  }

async function publishTyping(
  context: BotContext,
  isOwn: IsOwn,
  signal: TypingSignal,
): Promise<Record<string, unknown>> {
  const { conversationId } = signal.data
  const conversation = await findConversation(context.db, context.caller.botId, conversationId)
  if (!conversation || !isOwn(conversation)) throw noSuchConversation(conversationId)
  await publishEphemeral(context, conversationId, signal)
  return {}
}

/** Clients show for so long that a member types, unless the member's client says it again. */
const memberMilliseconds = 5000

/**
 * Shows the listeners of a conversation that the member of its handover types, or has stopped. A conversation of the inbox has
 * none: its user is in the conversation whose event began it.
 */
export async function announceMemberTyping(
  context: Context,
  conversation: FoundConversation,
  handover: Pick<HandoverRow, 'account_id' | 'source_conversation_id'>,
  isTyping: boolean,
): Promise<void> {
  const conversationId = isInbox(conversation) ? handover.source_conversation_id : conversation.id
  if (conversationId === null) return
  const { installation_id: installationId } = conversation
  const userId = isInbox(conversation)
    ? undefined
    : await findMemberUser(context.db, installationId, handover.account_id!)
  const data = { conversationId, ...(userId !== undefined && { userId }) }
  const signal = isTyping
    ? ({ type: 'typing_started', data: { ...data, timeout: memberMilliseconds } } as const)
    : ({ type: 'typing_stopped', data } as const)
  await publishEphemeral(context, conversationId, signal)
}
