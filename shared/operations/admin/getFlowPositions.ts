import { closedObject } from '../../schema.ts'
import { operation } from '../../rpc/operation.ts'
import { countFlowPositions, maxCountedNodes } from '../../store/flow-positions.ts'
import { findOwnBot } from './find-version.ts'

export const getFlowPositions = operation({
  name: 'getFlowPositions',
  description: 'Returns how many conversations wait at each node of the bot’s flows.',
  method: 'GET',
  path: '/v1/admin/bots/{id}/flow-positions',
  access: 'viewer',
  stability: 'experimental',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({
    positions: {
      type: 'array',
      description: `The nodes with the most waiting conversations first, at most ${maxCountedNodes}.`,
      items: closedObject({
        flow: { type: 'string' },
        node: { type: 'string' },
        conversations: { type: 'integer', description: 'The number of conversations that wait at the node.' },
      }),
    },
  }),

  async handle(context, { id }) {
    await findOwnBot(context, id)
    return { positions: await countFlowPositions(context.db, id) }
  },
})
