import { closedObject } from '../../schema.ts'
import { notFound } from '../../errors.ts'
import { chatCustom, chatEvent, toChatEvent } from '../../models/event.ts'
import { operation } from '../../rpc/operation.ts'
import { findParticipation } from '../../store/conversations.ts'
import { findEvent } from '../../store/events.ts'
import { externalUserIds } from '../../store/users.ts'
import { notParticipating } from './external-ids.ts'

export const getEvent = operation({
  name: 'getEvent',
  description: 'Returns a custom event of a conversation of the caller.',
  method: 'GET',
  path: '/chat/{webhookId}/events/{id}',
  access: 'user',
  errors: ['Forbidden'],
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({ event: chatEvent }),

  async handle(context, { id }) {
    const { db, caller } = context
    const botId = caller.installation.bot_id
    const row = await findEvent(db, botId, id)
    if (row?.type !== chatCustom || !row.conversation_id || !row.user_id) {
      throw notFound(`Event '${id}'`)
    }
    const { conversation_id: conversationId, user_id: authorId } = row
    const where = { installationId: caller.installation.id, conversationId, key: caller.key }
    const participation = await findParticipation(db, where)
    if (!participation) throw await notParticipating(context)
    const known = await externalUserIds(db, [authorId])
    return {
      event: toChatEvent(row, {
        conversationId: participation.foreign_id ?? conversationId,
        userId: known.get(authorId) ?? authorId,
      }),
    }
  },
})
