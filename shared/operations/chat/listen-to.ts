import type { Context } from '../../context.ts'
import { encryptionKeyId } from '../../integrations/user-keys.ts'
import type { listening } from '../../models/listening.ts'
import type { ChatUser } from '../../rpc/caller.ts'
import { closedObject, type Infer } from '../../schema.ts'
import { findListener } from '../../store/listeners.ts'
import { notParticipating } from './external-ids.ts'

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
  const { config, caller, db } = context
  const { id: installationId } = caller.installation
  const listener = await findListener(db, { installationId, externalConversationId: id, key: caller.key })
  if (!listener) throw await notParticipating(context)
  const startedAt = listener.startedAt.getTime()
  return {
    botId: listener.botId,
    conversationId: listener.conversationId,
    externalId: id,
    userId: listener.userId,
    webhookId: caller.installation.webhook_id,
    encryptionKeyId: encryptionKeyId(caller.installation, config.secret),
    ...(caller.key.expiresAt !== undefined && { expiresAt: caller.key.expiresAt }),
    startedAt,
    since: lastEventId === undefined ? startedAt - replayMilliseconds : Number(lastEventId),
    resumes: lastEventId !== undefined,
  }
}
