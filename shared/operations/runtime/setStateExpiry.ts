import { closedObject } from '../../schema.ts'
import { once } from '../../rpc/journal.ts'
import { state, toState } from '../../models/state.ts'
import { operation } from '../../rpc/operation.ts'
import { setExpiry } from '../../store/states.ts'
import { namedState, noState, stateExpiry, stateName } from './state-owner.ts'

export const setStateExpiry = operation({
  name: 'setStateExpiry',
  description: 'Sets the expiry of a state: it is deleted after this time without a read or a write.',
  method: 'POST',
  path: '/v1/chat/states/{type}/{id}/{name}/expiry',
  access: 'bot',
  input: closedObject({ ...stateName, expiry: stateExpiry }),
  output: closedObject({ state }),

  async handle(context, input) {
    return {
      state: await once(context, input, async (db) => {
        const name = await namedState({ ...context, db }, input)
        const row = await setExpiry(db, name, input.expiry)
        if (!row) throw noState(input)
        return toState(row)
      }),
    }
  },
})
