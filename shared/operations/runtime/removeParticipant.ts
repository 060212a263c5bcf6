import { closedObject } from '../../schema.ts'
import { publishEntry } from '../../signals/after-commit.ts'
import { ApiError } from '../../errors.ts'
import { once } from '../../rpc/journal.ts'
import { operation } from '../../rpc/operation.ts'
import { deleteParticipant } from '../../store/conversations.ts'
import { findParticipant, findScopedConversation } from '../../store/runtime-conversations.ts'
import { participantInput } from './getParticipant.ts'
import { noConversation, noParticipant } from './not-found.ts'

export const removeParticipant = operation({
  name: 'removeParticipant',
  description: 'Removes a user from a conversation.',
  method: 'DELETE',
  path: '/v1/chat/conversations/{id}/participants/{userId}',
  access: 'bot',
  input: participantInput,
  output: closedObject({}),

  async handle(context, input) {
    const { id: conversationId, userId } = input
    const { entry, participantId } = await once(context, input, async (db) => {
      const conversation = await findScopedConversation(db, context.caller, conversationId)
      if (!conversation) throw noConversation(conversationId)
      const user = await findParticipant(db, conversationId, userId)
      if (!user) throw noParticipant(userId)
      if (user.id === conversation.owner_id) {
        throw new ApiError('InvalidPayload', 'The owner of a conversation cannot be removed: delete it instead')
      }
      const externalId = user.foreign_id ?? user.id
      const left = await deleteParticipant(db, conversation, userId, removal(conversationId, externalId, userId))
      return { entry: left ?? null, participantId: externalId }
    })
    const signal = removal(conversationId, participantId, userId)
    // A replayed result is plain JSON: `at` is a string.
    if (entry) await publishEntry(context, { ...entry, at: new Date(entry.at) }, signal)
    return {}
  },
})

function removal(conversationId: string, participantId: string, removedUserId: string) {
  return { type: 'participant_removed', data: { conversationId, participantId }, removedUserId } as const
}
