import { closedObject } from '../../schema.ts'
import { enter, publishEntrance } from '../../messaging/participants.ts'
import { ApiError } from '../../errors.ts'
import { once } from '../../rpc/journal.ts'
import { runtimeUser, toRuntimeUser } from '../../models/user.ts'
import { operation } from '../../rpc/operation.ts'
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
    const { participant, entrance } = await once(context, input, async (db) => {
      const conversation = await findScopedConversation(db, caller, conversationId)
      if (!conversation) throw noConversation(conversationId)
      const user = await findRuntimeUser(db, caller, userId)
      if (!user) throw new ApiError('ReferenceNotFound', `User '${userId}' not found`)
      return { participant: toRuntimeUser(user, caller), entrance: await enter(db, conversation, user) }
    })
    if (entrance) await publishEntrance(context, entrance)
    return { participant }
  },
})
