import { closedObject } from '../../schema.ts'
import { state, toState } from '../../models/state.ts'
import { operation } from '../../rpc/operation.ts'
import { touchState } from '../../store/states.ts'
import { namedState, noState, stateMeta, stateName } from './state-owner.ts'

export const getState = operation({
  name: 'getState',
  description: 'Returns a state. Each read of a state with an expiry restarts its expiry period.',
  method: 'GET',
  path: '/v1/chat/states/{type}/{id}/{name}',
  access: 'bot',
  input: closedObject(stateName),
  output: closedObject({ state, meta: stateMeta }),

  async handle(context, input) {
    const row = await touchState(context.db, await namedState(context, input))
    if (!row) throw noState(input)
    return { state: toState(row), meta: { cached: false } }
  },
})
