import { closedObject } from '../../schema.ts'
import { toMessage } from '../../models/message.ts'
import { toWebchatMessage, webchatMessage } from '../../models/webchat.ts'
import { holdPage } from '../../rpc/hold-page.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfMessages } from '../../store/messages.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'
import { externalUserIds } from '../../store/users.ts'
import { joinedConversation } from '../chat/external-ids.ts'

export const listMessages = operation({
  name: 'listMessages',
  description: 'Lists the messages of a conversation of the visitor, newest first.',
  method: 'GET',
  path: '/webchat/{webhookId}/conversations/{conversationId}/messages',
  access: 'user',
  errors: ['Forbidden'],
  input: closedObject({ conversationId: { type: 'string' } }, { ...pageInput }),
  output: closedObject({ messages: { type: 'array', items: webchatMessage }, meta: pageMeta }),

  async handle(context, input) {
    const { db } = context
    const { conversationId } = input
    const { id, bot_id: botId } = await joinedConversation(context, conversationId)
    const page = await pageOfMessages(db, { botId, conversationId: id }, pageRequest(input))
    holdPage(context, page)
    const known = await externalUserIds(
      db,
      page.rows.map((row) => row.user_id),
    )
    const messages = page.rows.map((row) => {
      const ids = { conversationId, userId: known.get(row.user_id) ?? row.user_id }
      return toWebchatMessage(toMessage(row, ids), row.tags)
    })
    return { messages, meta: toMeta(page) }
  },
})
