import { closedObject } from '../../schema.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'
import { conversation, toConversation } from '../../models/conversation.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfOwnedConversations } from '../../store/conversations.ts'
import { presentUser } from './external-ids.ts'

export const listConversations = operation({
  name: 'listConversations',
  description: 'Lists the conversations that the caller owns, newest first.',
  method: 'GET',
  path: '/chat/{webhookId}/conversations',
  access: 'user',
  input: closedObject({}, pageInput),
  output: closedObject({ conversations: { type: 'array', items: conversation }, meta: pageMeta }),

  async handle(context, input) {
    const { db, caller } = context
    const { id: ownerId } = await presentUser(context)
    const page = await pageOfOwnedConversations(db, { botId: caller.installation.bot_id, ownerId }, pageRequest(input))
    return { conversations: page.rows.map((row) => toConversation(row)), meta: toMeta(page) }
  },
})
