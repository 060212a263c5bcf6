import { closedObject } from '../../schema.ts'
import { notFound } from '../../errors.ts'
import { message, toMessage } from '../../models/message.ts'
import { operation } from '../../rpc/operation.ts'
import { findParticipation } from '../../store/conversations.ts'
import { findMessage } from '../../store/messages.ts'
import { externalUserIds } from '../../store/users.ts'
import { notParticipating } from './external-ids.ts'

export const getMessage = operation({
  name: 'getMessage',
  description: 'Returns a message of a conversation of the caller.',
  method: 'GET',
  path: '/chat/{webhookId}/messages/{id}',
  access: 'user',
  errors: ['Forbidden'],
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({ message }),

  async handle(context, { id }) {
    const { db, caller } = context
    const botId = caller.installation.bot_id
    const row = await findMessage(db, botId, id)
    if (!row) throw notFound(`Message '${id}'`)
    const { conversation_id: conversationId, user_id: authorId } = row
    const where = { installationId: caller.installation.id, conversationId, key: caller.key }
    const participation = await findParticipation(db, where)
    if (!participation) throw await notParticipating(context)
    const known = await externalUserIds(db, [authorId])
    return {
      message: toMessage(row, {
        conversationId: participation.foreign_id ?? conversationId,
        userId: known.get(authorId) ?? authorId,
      }),
    }
  },
})
