import { closedObject } from '../../schema.ts'
import { flowEnded } from '../../models/event.ts'
import { operation } from '../../rpc/operation.ts'
import { createFlowEvent, flowEventOutput } from './flow-events.ts'

export const endFlow = operation({
  name: 'endFlow',
  description:
    'Ends the flows in progress in a conversation, without a further card. The event takes its turn among those of the ' +
    'conversation.',
  method: 'DELETE',
  path: '/v1/chat/conversations/{conversationId}/flow',
  access: 'bot',
  stability: 'experimental',
  errors: ['RateLimited'],
  input: closedObject({ conversationId: { type: 'string' } }),
  output: flowEventOutput,

  async handle(context, input) {
    return createFlowEvent(context, input, { ...input, type: flowEnded, payload: {} })
  },
})
