import { closedObject } from '../../schema.ts'
import { notFound } from '../../errors.ts'
import { conversation, toConversation } from '../../models/conversation.ts'
import { operation } from '../../rpc/operation.ts'
import { findConversationWithMembership, notParticipating } from './external-ids.ts'

export const getConversation = operation({
  name: 'getConversation',
  description: 'Returns a conversation of the caller.',
  method: 'GET',
  path: '/chat/{webhookId}/conversations/{id}',
  access: 'user',
  stability: 'documented',
  errors: ['Forbidden'],
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({ conversation }),

  async handle(context, { id }) {
    const row = await findConversationWithMembership(context, id)
    if (!row) throw notFound(`Conversation '${id}'`)
    if (!row.participant_id) throw await notParticipating(context)
    return { conversation: toConversation(row, id) }
  },
})
