import { closedObject } from '../../schema.ts'
import { listening } from '../../models/listening.ts'
import { operation } from '../../rpc/operation.ts'
import { readClock } from '../../store/conversation-log.ts'
import { encryptionKeyId } from '../../integrations/user-keys.ts'
import { joinedConversation } from './external-ids.ts'

/** A client that sends a message and then opens a stream, without waiting for it, still receives the message. */
const replayMilliseconds = 500

export const listenConversation = operation({
  name: 'listenConversation',
  description:
    'Streams the conversation’s signals, as server-sent events or over a WebSocket. A client that reconnects sends ' +
    '`Last-Event-ID`; the stream then begins with the entries after that id.',
  method: 'GET',
  // Published clients do not encode the id: a slash in it separates segments.
  path: '/chat/{webhookId}/conversations/{id*}/listen',
  access: 'user',
  errors: ['Forbidden'],
  opensStream: true,
  input: closedObject(
    { id: { type: 'string' } },
    {
      lastEventId: {
        type: 'string',
        pattern: '^\\d{1,15}$',
        description: 'The id of the last received frame; the header Last-Event-ID has the same meaning.',
      },
    },
  ),
  output: listening,

  async handle(context, { id, lastEventId }) {
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
  },
})
