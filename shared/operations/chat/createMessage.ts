import { closedObject } from '../../schema.ts'
import { receiveChatMessage } from '../../messaging/receive-chat-message.ts'
import { message } from '../../models/message.ts'
import { chatPayload } from '../../models/payload.ts'
import { operation } from '../../rpc/operation.ts'
import { notParticipating } from './external-ids.ts'

export const createMessage = operation({
  name: 'createMessage',
  description: 'Creates a message in a conversation of the caller.',
  method: 'POST',
  path: '/chat/{webhookId}/messages',
  access: 'user',
  stability: 'documented',
  errors: ['Forbidden'],
  status: 201,
  input: closedObject({ conversationId: { type: 'string' }, payload: chatPayload }, { metadata: { type: 'object' } }),
  output: closedObject({ message }),

  async handle(context, given) {
    const created = await receiveChatMessage(context, given)
    if (!created) throw await notParticipating(context)
    return { message: created }
  },
})
