import { closedObject } from '../../schema.ts'
import { handover, toHandover } from '../../models/handover.ts'
import { operation } from '../../rpc/operation.ts'
import { findHandoverInProgress } from '../../store/find-handovers.ts'
import { findScopedConversation } from '../../store/runtime-conversations.ts'
import { noConversation } from './not-found.ts'

export const getHandover = operation({
  name: 'getHandover',
  description: 'Returns the handover in progress in a conversation; no handover while the bot answers there.',
  method: 'GET',
  path: '/v1/chat/conversations/{conversationId}/handover',
  access: 'bot',
  stability: 'experimental',
  input: closedObject({ conversationId: { type: 'string' } }),
  output: closedObject({}, { handover }),

  async handle({ db, caller }, { conversationId }) {
    if (!(await findScopedConversation(db, caller, conversationId))) throw noConversation(conversationId)
    const row = await findHandoverInProgress(db, caller.botId, conversationId)
    return row ? { handover: toHandover(row) } : {}
  },
})
