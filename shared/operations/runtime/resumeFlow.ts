import { closedObject } from '../../schema.ts'
import { flowResumed } from '../../models/event.ts'
import { operation } from '../../rpc/operation.ts'
import { createFlowEvent, flowEventOutput } from './flow-events.ts'

export const resumeFlow = operation({
  name: 'resumeFlow',
  description:
    'Hands a conversation back to the flows of the bot, which continue after the card that handed it over. The event ' +
    'takes its turn among those of the conversation.',
  method: 'POST',
  path: '/v1/chat/conversations/{conversationId}/flow/resume',
  access: 'bot',
  stability: 'experimental',
  errors: ['RateLimited'],
  status: 201,
  input: closedObject({ conversationId: { type: 'string' } }),
  output: flowEventOutput,

  async handle(context, input) {
    return createFlowEvent(context, input, { ...input, type: flowResumed, payload: {} })
  },
})
