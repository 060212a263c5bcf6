import { closedObject } from '../../schema.ts'
import { toUser, user } from '../../models/user.ts'
import { operation } from '../../rpc/operation.ts'
import { findParticipantByExternalId } from '../../store/conversations.ts'
import { noSuchParticipant, ownConversation, participantInput } from './external-ids.ts'

export const getParticipant = operation({
  name: 'getParticipant',
  description: 'Returns a participant of a conversation that the caller owns.',
  method: 'GET',
  path: '/chat/{webhookId}/conversations/{conversationId}/participants/{userId}',
  access: 'user',
  errors: ['Forbidden'],
  input: participantInput,
  output: closedObject({ participant: user }),

  async handle(context, { conversationId, userId }) {
    const conversation = await ownConversation(context, conversationId)
    const participant = await findParticipantByExternalId(context.db, conversation, userId)
    if (!participant) throw noSuchParticipant(userId)
    return { participant: toUser(participant, userId) }
  },
})
