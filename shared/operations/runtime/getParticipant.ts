import { closedObject } from '../../schema.ts'
import { runtimeUser, toRuntimeUser } from '../../models/user.ts'
import { operation } from '../../rpc/operation.ts'
import { findParticipant, findScopedConversation } from '../../store/runtime-conversations.ts'
import { noConversation, noParticipant } from './not-found.ts'

/** The input that names a user in a conversation. */
export const participantInput = closedObject({
  id: { type: 'string', description: 'The id of the conversation.' },
  userId: { type: 'string' },
})

export const getParticipant = operation({
  name: 'getParticipant',
  description: 'Returns a participant of a conversation.',
  method: 'GET',
  path: '/v1/chat/conversations/{id}/participants/{userId}',
  access: 'bot',
  input: participantInput,
  output: closedObject({ participant: runtimeUser }),

  async handle({ db, caller }, { id, userId }) {
    if (!(await findScopedConversation(db, caller, id))) throw noConversation(id)
    const row = await findParticipant(db, id, userId)
    if (!row) throw noParticipant(userId)
    return { participant: toRuntimeUser(row, caller) }
  },
})
