import type { Context } from '../context.ts'
import type { HandoverChange, InboxLine } from '../models/inbox-line.ts'
import type { MessageRow } from '../models/tables.ts'
import { publishToInboxes } from '../signals/after-commit.ts'
import {
  findAnsweringHandovers,
  findHandoverOfInbox,
  findSessionInProgress,
  type HandoverOfInbox,
} from '../store/find-handovers.ts'
import { recordMessageNews } from '../store/inbox-webhooks.ts'

/** Tells the open inboxes of a change of a handover, after the commit. */
export async function announceHandover(context: Context, handoverId: string, change: HandoverChange): Promise<void> {
  await publish(context, await findHandoverOfInbox(context.db, handoverId), { type: 'handover', change })
}

/** Tells the open inboxes that the user of a handover has written, after the commit. */
export async function announceUserMessage(context: Context, handoverId: string): Promise<void> {
  await publish(context, await findHandoverOfInbox(context.db, handoverId), { type: 'message' })
}

/**
 * Tells the open inboxes, and the webhook of the workspace, of a message that a plugin has written for a user, should its
 * conversation be one of the inbox. A repeated run of the plugin does so again, and the webhook gets it once.
 */
export async function announceCopiedMessage(
  context: Context,
  { id: messageId, conversation_id: conversationId }: Pick<MessageRow, 'id' | 'conversation_id'>,
): Promise<void> {
  const session = await findSessionInProgress(context.db, conversationId)
  if (!session) return
  await recordMessageNews(context.db, { handoverId: session.handoverId, messageId })
  await publish(context, session, { type: 'message' })
}

/** Tells the open inboxes that a user types in a conversation, or has stopped. */
export async function announceUserTyping(context: Context, conversationId: string, isTyping: boolean): Promise<void> {
  for (const handover of await findAnsweringHandovers(context.db, conversationId)) {
    await publish(context, handover, { type: 'typing', isTyping })
  }
}

async function publish(context: Context, of: HandoverOfInbox | undefined, line: InboxLine): Promise<void> {
  if (!of) return
  const { workspaceId, botId, conversationId, handoverId, accountId } = of
  const subject = { botId, conversationId, handoverId, ...(accountId !== null && { memberId: accountId }) }
  await publishToInboxes(context, workspaceId, { ...line, ...subject })
}
