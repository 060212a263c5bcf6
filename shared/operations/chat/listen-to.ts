import type { Context } from '../../context.ts'
import { encryptionKeyId } from '../../integrations/user-keys.ts'
import type { listening } from '../../models/listening.ts'
import type { ChatUser } from '../../rpc/caller.ts'
import { closedObject, type Infer } from '../../schema.ts'
import { readClock } from '../../store/conversation-log.ts'
import { joinedConversation } from './external-ids.ts'

/** A client that sends a message and then opens a stream, without waiting for it, still receives the message. */
const replayMilliseconds = 500

/** The input of an operation that streams a conversation. */
export const listeningInput = closedObject(
  { id: { type: 'string' } },
  {
    lastEventId: {
      type: 'string',
      pattern: '^\\d{1,15}$',
      description: 'The id of the last received frame; the header Last-Event-ID has the same meaning.',
    },
  },
)

/**
 * The stream of a conversation, with the signals of the chat.
 * @throws ApiError `Forbidden` when the caller is not a participant
 */
export async function listenTo(
  context: Context & { caller: ChatUser },
  { id, lastEventId }: Infer<typeof listeningInput>,
): Promise<Infer<typeof listening>> {
  const { config, caller } = context
  // Read before the participants: a participant who is removed after that check is removed after `startedAt`.
  const startedAt = (await readClock(context.db)).getTime()
  const conversation = await joinedConversation(context, id)
  return {
    botId: conversation.bot_id,
    conversationId: conversation.id,
    externalId: id,
    userId: conversation.participant_id,
    webhookId: caller.installation.webhook_id,
    encryptionKeyId: encryptionKeyId(caller.installation, config.secret),
    ...(caller.key.expiresAt !== undefined && { expiresAt: caller.key.expiresAt }),
    startedAt,
    since: lastEventId === undefined ? startedAt - replayMilliseconds : Number(lastEventId),
    resumes: lastEventId !== undefined,
  }
}
