import { closedObject } from '../../schema.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'
import { message, toMessage } from '../../models/message.ts'
import { holdPage } from '../../rpc/hold-page.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfMessages } from '../../store/messages.ts'
import { externalUserIds } from '../../store/users.ts'
import { joinedConversation } from './external-ids.ts'

export const listMessages = operation({
  name: 'listMessages',
  description: 'Lists the messages of a conversation, newest first.',
  method: 'GET',
  path: '/chat/{webhookId}/conversations/{conversationId}/messages',
  access: 'user',
  errors: ['Forbidden'],
  input: closedObject({ conversationId: { type: 'string' } }, { ...pageInput }),
  output: closedObject({ messages: { type: 'array', items: message }, meta: pageMeta }),

  async handle(context, input) {
    const { db } = context
    const { conversationId } = input
    const conversation = await joinedConversation(context, conversationId)
    const where = { botId: conversation.bot_id, conversationId: conversation.id }
    const page = await pageOfMessages(db, where, pageRequest(input))
    holdPage(context, page)
    const known = await externalUserIds(
      db,
      page.rows.map((row) => row.user_id),
    )
    return {
      messages: page.rows.map((row) =>
        toMessage(row, { conversationId, userId: known.get(row.user_id) ?? row.user_id }),
      ),
      meta: toMeta(page),
    }
  },
})
