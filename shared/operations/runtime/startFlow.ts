import { closedObject } from '../../schema.ts'
import { ApiError } from '../../errors.ts'
import { flowStarted } from '../../models/event.ts'
import { operation } from '../../rpc/operation.ts'
import { findDeployedFlow } from '../../store/bots.ts'
import { createFlowEvent, flowEventOutput } from './flow-events.ts'

export const startFlow = operation({
  name: 'startFlow',
  description:
    'Starts a flow in a conversation, in the place of those in progress. The event takes its turn among those of the ' +
    'conversation.',
  method: 'POST',
  path: '/v1/chat/conversations/{conversationId}/flow',
  access: 'bot',
  stability: 'experimental',
  errors: ['ReferenceNotFound', 'RateLimited'],
  status: 201,
  input: closedObject(
    { conversationId: { type: 'string' }, flow: { type: 'string', minLength: 1, maxLength: 64 } },
    {
      node: { type: 'string', minLength: 1, maxLength: 64, description: 'Default: the start of the flow.' },
      input: { type: 'object', description: 'Variables with which the flow begins.' },
      userId: { type: 'string', description: 'The user whose state the flow finds.' },
    },
  ),
  output: flowEventOutput,

  async handle(context, { conversationId, userId, ...start }) {
    const { flow, node } = start
    const event = { conversationId, userId, type: flowStarted, payload: start }
    return createFlowEvent(context, { conversationId, userId, ...start }, event, async (db) => {
      const found = await findDeployedFlow(db, context.caller.botId, { flow, node })
      if (!found) throw new ApiError('ReferenceNotFound', `Flow '${flow}' not found`)
      if (node !== undefined && !found.has_node) {
        throw new ApiError('ReferenceNotFound', `Node '${node}' of flow '${flow}' not found`)
      }
    })
  },
})
