import { closedObject } from '../../schema.ts'
import { enter, publishEntrance } from '../../messaging/participants.ts'
import { notFound } from '../../errors.ts'
import { toUser, user } from '../../models/user.ts'
import { operation } from '../../rpc/operation.ts'
import { findUserByExternalId } from '../../store/users.ts'
import { ownConversation, participantInput } from './external-ids.ts'

export const addParticipant = operation({
  name: 'addParticipant',
  description: 'Adds another user to a conversation that the caller owns.',
  method: 'POST',
  path: '/chat/{webhookId}/conversations/{conversationId}/participants',
  access: 'user',
  errors: ['Forbidden'],
  input: participantInput,
  output: closedObject({ participant: user }),

  async handle(context, { conversationId, userId }) {
    const { db, caller } = context
    const conversation = await ownConversation(context, conversationId)
    const participant = await findUserByExternalId(db, caller.installation.id, userId)
    if (!participant) throw notFound(`User '${userId}'`)
    const entrance = await enter(db, conversation, participant)
    if (entrance) await publishEntrance(context, entrance)
    return { participant: toUser(participant, userId) }
  },
})
