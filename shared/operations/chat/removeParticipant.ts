import { closedObject } from '../../schema.ts'
import { publishEntry } from '../../signals/after-commit.ts'
import { ApiError } from '../../errors.ts'
import { operation } from '../../rpc/operation.ts'
import { deleteParticipant, findParticipantByExternalId } from '../../store/conversations.ts'
import { noSuchParticipant, ownConversation, participantInput } from './external-ids.ts'

export const removeParticipant = operation({
  name: 'removeParticipant',
  description: 'Removes another user from a conversation that the caller owns, and ends that user’s streams of it.',
  method: 'DELETE',
  path: '/chat/{webhookId}/conversations/{conversationId}/participants/{userId}',
  access: 'user',
  errors: ['Forbidden'],
  input: participantInput,
  output: closedObject({}),

  async handle(context, { conversationId, userId }) {
    const conversation = await ownConversation(context, conversationId)
    const participant = await findParticipantByExternalId(context.db, conversation, userId)
    if (!participant) throw noSuchParticipant(userId)
    if (participant.id === conversation.owner_id) {
      throw new ApiError(
        'InvalidPayload',
        'The owner of a conversation cannot be removed: delete the conversation instead',
      )
    }
    const data = { conversationId, participantId: userId }
    const signal = { type: 'participant_removed', data, removedUserId: participant.id } as const
    const entry = await deleteParticipant(context.db, conversation, participant.id, signal)
    if (entry) await publishEntry(context, entry, signal)
    return {}
  },
})
