import { closedObject } from '../../schema.ts'
import { conversation } from '../../models/conversation.ts'
import { toChatPayload } from '../../models/payload.ts'
import { toWebchatPayload } from '../../models/webchat.ts'
import { operation } from '../../rpc/operation.ts'
import { pageMeta } from '../../store/pagination.ts'
import { externalUserIds } from '../../store/users.ts'
import { listVisitedConversations } from '../../store/webchat.ts'
import { presentUser } from '../chat/external-ids.ts'

const lastMessage = closedObject({
  userId: { type: 'string' },
  payload: { type: 'object' },
  createdAt: { type: 'string', format: 'date-time' },
})

export const listConversations = operation({
  name: 'listConversations',
  description:
    'Lists the visitor’s conversations with their last messages, the newest first: at most 100, in one page.',
  method: 'GET',
  path: '/webchat/{webhookId}/conversations',
  access: 'user',
  input: closedObject({}),
  output: closedObject({
    conversations: { type: 'array', items: closedObject(conversation.properties, { lastMessage }) },
    meta: pageMeta,
  }),

  async handle(context) {
    const { db, caller } = context
    const { id: userId } = await presentUser(context)
    const rows = await listVisitedConversations(db, { installationId: caller.installation.id, userId })
    const known = await externalUserIds(
      db,
      rows.flatMap(({ last_message: last }) => (last ? [last.user_id] : [])),
    )
    const conversations = rows.map(({ last_message: last, ...row }) => ({
      id: row.id,
      createdAt: row.created_at.toISOString(),
      // The time of the newest entry; the row itself does not change with a message.
      updatedAt: row.clock.toISOString(),
      ...(last && {
        lastMessage: {
          userId: known.get(last.user_id) ?? last.user_id,
          payload: toWebchatPayload(toChatPayload(last)),
          createdAt: new Date(last.created_at).toISOString(),
        },
      }),
    }))
    return { conversations, meta: {} }
  },
})
