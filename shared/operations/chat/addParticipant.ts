import { closedObject } from '../../schema.ts'
import { publishEntry } from '../../signals/after-commit.ts'
import { notFound } from '../../errors.ts'
import { toUser, user } from '../../models/user.ts'
import { operation } from '../../rpc/operation.ts'
import { insertParticipant } from '../../store/conversations.ts'
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
    const signal = { type: 'participant_added', data: { conversationId, participantId: userId } } as const
    const entry = await insertParticipant(db, conversation, participant.id, signal)
    if (entry) await publishEntry(context, entry, signal)
    return { participant: toUser(participant, userId) }
  },
})
