import { closedObject } from '../../schema.ts'
import { flowPosition, toFlowPosition } from '../../flows/position.ts'
import { operation } from '../../rpc/operation.ts'
import { findScopedConversation } from '../../store/runtime-conversations.ts'
import { findFlowState } from '../../store/states.ts'
import { noConversation } from './not-found.ts'

export const getFlowPosition = operation({
  name: 'getFlowPosition',
  description: 'Returns where a conversation waits in the flows of the bot; no position when no flow is in progress.',
  method: 'GET',
  path: '/v1/chat/conversations/{conversationId}/flow',
  access: 'bot',
  stability: 'experimental',
  input: closedObject({ conversationId: { type: 'string' } }),
  output: closedObject({}, { position: flowPosition }),

  async handle({ db, caller }, { conversationId }) {
    if (!(await findScopedConversation(db, caller, conversationId))) throw noConversation(conversationId)
    const position = toFlowPosition(await findFlowState(db, caller.botId, conversationId))
    return position ? { position } : {}
  },
})
