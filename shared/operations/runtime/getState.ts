import { ApiError } from '../../errors.ts'
import { state, toState } from '../../models/state.ts'
import { operation } from '../../operation.ts'
import { findState } from '../../store/states.ts'
import { namedState, stateName } from './state-owner.ts'

export const getState = operation({
  name: 'getState',
  description: 'Gives a state of the bot, of one of its users, or of one of its conversations.',
  method: 'GET',
  path: '/v1/chat/states/{type}/{id}/{name}',
  access: 'bot',
  input: {
    type: 'object',
    additionalProperties: false,
    required: ['type', 'id', 'name'],
    properties: stateName,
  },
  output: {
    type: 'object',
    additionalProperties: false,
    required: ['state', 'meta'],
    properties: {
      state,
      meta: {
        type: 'object',
        additionalProperties: false,
        required: ['cached'],
        properties: { cached: { type: 'boolean' } },
      },
    },
  },

  async handle(context, input) {
    const row = await findState(context.db, await namedState(context, input))
    if (!row) throw new ApiError('ResourceNotFound', `The ${input.type} '${input.id}' has no state '${input.name}'`)
    return { state: toState(row), meta: { cached: false } }
  },
})
