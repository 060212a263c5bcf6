import { isDeepStrictEqual } from 'node:util'
import { closedObject } from '../../schema.ts'
import { newId } from '../../ids.ts'
import { once } from '../../rpc/journal.ts'
import { state, toState } from '../../models/state.ts'
import { operation } from '../../rpc/operation.ts'
import { stateDefinition } from '../../messaging/state-definition.ts'
import { mergeState } from '../../store/states.ts'
import { assertFits, namedState, noOwner, stateExpiry, stateName } from './state-owner.ts'

export const patchState = operation({
  name: 'patchState',
  description: 'Sets the given top-level keys of a state and leaves the others; creates the state where there is none.',
  method: 'PATCH',
  path: '/v1/chat/states/{type}/{id}/{name}',
  access: 'bot',
  errors: ['InvalidJsonSchema', 'InvalidDataFormat', 'LimitExceeded'],
  input: closedObject({ ...stateName, payload: { type: 'object' } }, { expiry: stateExpiry }),
  output: closedObject({ state }),

  async handle(context, input) {
    const { payload, expiry } = input
    return {
      state: await once(context, input, async (db) => {
        const name = await namedState({ ...context, db }, input)
        const definition = await stateDefinition(db, name)
        // The state is validated after the merge; an error undoes the merge.
        const state = {
          ...name,
          id: newId('state'),
          payload,
          expiry: expiry === undefined ? definition.expiry : expiry,
        }
        const keepsExpiry = expiry === undefined
        const row = await mergeState(db, state, keepsExpiry)
        if (!row) throw noOwner(input)
        const completed = definition.complete(row.payload)
        assertFits(completed)
        if (isDeepStrictEqual(completed, row.payload)) return toState(row)
        // The first merge has locked the owner.
        return toState((await mergeState(db, { ...state, payload: completed }, keepsExpiry))!)
      }),
    }
  },
})
