import type { Context } from '../../context.ts'
import { notFound } from '../../errors.ts'
import type { TranscriptConversationRow } from '../../models/transcript.ts'
import { hasRole, type Administrator } from '../../rpc/caller.ts'
import { findConversation, type FoundConversation } from '../../store/conversations.ts'
import type { Database } from '../../store/database.ts'
import { hasHadHandover } from '../../store/find-handovers.ts'
import { findTranscriptConversation, type ConversationOfBot } from '../../store/transcript.ts'
import { noConversation } from '../runtime/not-found.ts'
import { findOwnBot } from './find-version.ts'

/**
 * @throws ApiError `ResourceNotFound` when the caller's workspace has no such bot, or the bot no such conversation, or
 * the caller is an agent and the conversation has never been handed over
 */
export async function findOwnConversation(
  context: Context & { caller: Administrator },
  where: ConversationOfBot,
): Promise<TranscriptConversationRow> {
  await findOwnBot(context, where.botId)
  const row = await findTranscriptConversation(context.db, where)
  if (!row || !(await maySee(context, where))) {
    throw notFound(`Conversation '${where.conversationId}' of bot '${where.botId}'`)
  }
  return row
}

/** Whether the caller's role permits a conversation: an agent's, those that have had a handover. */
export async function maySee(
  { db, caller }: Context & { caller: Administrator },
  where: ConversationOfBot,
): Promise<boolean> {
  return hasRole(caller, 'developer') || hasHadHandover(db, where)
}

/** A conversation of a bot that the caller's workspace has. @throws ApiError `ResourceNotFound` */
export async function findBotConversation(db: Database, botId: string, id: string): Promise<FoundConversation> {
  const row = await findConversation(db, botId, id)
  if (!row) throw noConversation(id)
  return row
}
