import type { Context } from '../../context.ts'
import { announceUserTyping } from '../../messaging/inbox-news.ts'
import type { ChatUser } from '../../rpc/caller.ts'
import { closedObject, type Infer } from '../../schema.ts'
import { joinedConversation } from './external-ids.ts'

export const typingInput = closedObject(
  { conversationId: { type: 'string' } },
  { isTyping: { type: 'boolean', description: 'False takes it back; default: true. Repeat it every few seconds.' } },
)

export const typingOutput = closedObject({})

/** @throws ApiError `Forbidden` when the caller is not a participant */
export async function showTyping(
  context: Context & { caller: ChatUser },
  { conversationId, isTyping = true }: Infer<typeof typingInput>,
): Promise<void> {
  const { id } = await joinedConversation(context, conversationId)
  await announceUserTyping(context, id, isTyping)
}
