import { closedObject } from '../../schema.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'
import { toUser, user } from '../../models/user.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfParticipants } from '../../store/conversations.ts'
import { joinedConversation } from './external-ids.ts'

export const listParticipants = operation({
  name: 'listParticipants',
  description: 'Lists the participants of a conversation.',
  method: 'GET',
  path: '/chat/{webhookId}/conversations/{conversationId}/participants',
  access: 'user',
  stability: 'documented',
  errors: ['Forbidden'],
  input: closedObject({ conversationId: { type: 'string' } }, { ...pageInput }),
  output: closedObject({ participants: { type: 'array', items: user }, meta: pageMeta }),

  async handle(context, input) {
    const conversation = await joinedConversation(context, input.conversationId)
    const page = await pageOfParticipants(
      context.db,
      { botId: conversation.bot_id, conversationId: conversation.id },
      pageRequest(input),
    )
    return { participants: page.rows.map((row) => toUser(row)), meta: toMeta(page) }
  },
})
