import { closedObject } from '../../schema.ts'
import { ApiError } from '../../errors.ts'
import { receiveChatMessage } from '../../messaging/receive-chat-message.ts'
import { readGivenPayload, toWebchatMessage, webchatMessage } from '../../models/webchat.ts'
import { operation } from '../../rpc/operation.ts'
import { notParticipating } from '../chat/external-ids.ts'

export const createMessage = operation({
  name: 'createMessage',
  description: 'Creates a message in a conversation of the visitor: any message of the chat.',
  method: 'POST',
  path: '/webchat/{webhookId}/messages',
  access: 'user',
  errors: ['Forbidden'],
  status: 201,
  input: closedObject(
    {
      conversationId: { type: 'string' },
      payload: { type: 'object', required: ['type'], properties: { type: { type: 'string' } } },
    },
    { metadata: { type: 'object' } },
  ),
  output: closedObject({ message: webchatMessage }),

  async handle(context, { conversationId, payload: given, metadata }) {
    const payload = readGivenPayload(given)
    if ('problem' in payload) throw new ApiError('InvalidPayload', `payload: ${payload.problem}`)
    const created = await receiveChatMessage(context, { conversationId, payload: payload.read, metadata })
    if (!created) throw await notParticipating(context)
    return { message: toWebchatMessage(created) }
  },
})
