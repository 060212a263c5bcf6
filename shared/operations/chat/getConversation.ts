import { notFound } from '../../errors.ts'
import { conversation, toConversation } from '../../models/conversation.ts'
import { operation } from '../../rpc/operation.ts'
import { findConversationWithMembership, notParticipating } from './external-ids.ts'

export const getConversation = operation({
  name: 'getConversation',
  description: 'Gives a conversation that the caller takes part in.',
  method: 'GET',
  path: '/chat/{webhookId}/conversations/{id}',
  access: 'user',
  stability: 'documented',
  errors: ['Forbidden'],
  input: {
    type: 'object',
    additionalProperties: false,
    required: ['id'],
    properties: { id: { type: 'string' } },
  },
  output: { type: 'object', additionalProperties: false, required: ['conversation'], properties: { conversation } },

  async handle(context, { id }) {
    const row = await findConversationWithMembership(context, id)
    if (!row) throw notFound(`Conversation '${id}'`)
    if (!row.participant_id) throw await notParticipating(context)
    return { conversation: toConversation(row, id) }
  },
})
