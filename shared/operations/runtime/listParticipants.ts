import { closedObject } from '../../schema.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'
import { runtimeUser, toRuntimeUser } from '../../models/user.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfParticipants } from '../../store/conversations.ts'
import { findScopedConversation } from '../../store/runtime-conversations.ts'
import { noConversation } from './not-found.ts'

export const listParticipants = operation({
  name: 'listParticipants',
  description: 'Lists the participants of a conversation, the newest first.',
  method: 'GET',
  path: '/v1/chat/conversations/{id}/participants',
  access: 'bot',
  input: closedObject({ id: { type: 'string' } }, { ...pageInput }),
  output: closedObject({ participants: { type: 'array', items: runtimeUser }, meta: pageMeta }),

  async handle({ db, caller }, input) {
    if (!(await findScopedConversation(db, caller, input.id))) throw noConversation(input.id)
    const where = { botId: caller.botId, conversationId: input.id }
    const page = await pageOfParticipants(db, where, pageRequest(input))
    return { participants: page.rows.map((row) => toRuntimeUser(row, caller)), meta: toMeta(page) }
  },
})
