import { operation } from '../../operation.ts'
import { joinedConversation } from './known.ts'

export const listenConversation = operation({
  name: 'listenConversation',
  description: 'Streams the conversation’s signals as server-sent events.',
  method: 'GET',
  // Published clients leave the id as it is: one with a slash makes further segments.
  path: '/chat/{webhookId}/conversations/{id*}/listen',
  access: 'user',
  opensStream: true,
  input: { type: 'object', additionalProperties: false, required: ['id'], properties: { id: { type: 'string' } } },
  output: {
    type: 'object',
    additionalProperties: false,
    required: ['conversationId', 'knownId', 'userId'],
    properties: { conversationId: { type: 'string' }, knownId: { type: 'string' }, userId: { type: 'string' } },
  },

  async handle(context, { id }) {
    const conversation = await joinedConversation(context, id)
    return { conversationId: conversation.id, knownId: id, userId: conversation.participant_id }
  },
})
