import type { Context } from '../../context.ts'
import { notFound } from '../../errors.ts'
import type { TranscriptConversationRow } from '../../models/transcript.ts'
import type { Administrator } from '../../rpc/caller.ts'
import { findTranscriptConversation, type ConversationOfBot } from '../../store/transcript.ts'
import { findOwnBot } from './find-version.ts'

/** @throws ApiError `ResourceNotFound` when the caller's workspace has no such bot, or the bot no such conversation */
export async function findOwnConversation(
  context: Context & { caller: Administrator },
  where: ConversationOfBot,
): Promise<TranscriptConversationRow> {
  await findOwnBot(context, where.botId)
  const row = await findTranscriptConversation(context.db, where)
  if (!row) throw notFound(`Conversation '${where.conversationId}' of bot '${where.botId}'`)
  return row
}
