import { closedObject } from '../../schema.ts'
import { publishEntry } from '../../signals/after-commit.ts'
import { ApiError } from '../../errors.ts'
import { once } from '../../rpc/journal.ts'
import { runtimeUser, toRuntimeUser } from '../../models/user.ts'
import { operation } from '../../rpc/operation.ts'
import { insertParticipant } from '../../store/conversations.ts'
import { findScopedConversation } from '../../store/runtime-conversations.ts'
import { findRuntimeUser } from '../../store/runtime-users.ts'
import { noConversation } from './not-found.ts'

export const addParticipant = operation({
  name: 'addParticipant',
  description: 'Adds a user to a conversation.',
  method: 'POST',
  path: '/v1/chat/conversations/{id}/participants',
  access: 'bot',
  errors: ['ReferenceNotFound'],
  input: closedObject({ id: { type: 'string' }, userId: { type: 'string' } }),
  output: closedObject({ participant: runtimeUser }),

  async handle(context, input) {
    const { caller } = context
    const { id: conversationId, userId } = input
    const { participant, knownId, entry } = await once(context, input, async (db) => {
      const conversation = await findScopedConversation(db, caller, conversationId)
      if (!conversation) throw noConversation(conversationId)
      const user = await findRuntimeUser(db, caller, userId)
      if (!user) throw new ApiError('ReferenceNotFound', `User '${userId}' not found`)
      const knownId = user.foreign_id ?? user.id
      const entered = await insertParticipant(db, conversation, user.id, addition(conversationId, knownId))
      return { participant: toRuntimeUser(user, caller), knownId, entry: entered ?? null }
    })
    // A replayed result is plain JSON: `at` is a string.
    if (entry) await publishEntry(context, { ...entry, at: new Date(entry.at) }, addition(conversationId, knownId))
    return { participant }
  },
})

function addition(conversationId: string, participantId: string) {
  return { type: 'participant_added', data: { conversationId, participantId } } as const
}
