import { closedObject } from '../../schema.ts'
import { newId } from '../../ids.ts'
import { once } from '../../rpc/journal.ts'
import { state, toState } from '../../models/state.ts'
import { operation } from '../../rpc/operation.ts'
import { stateDefinition } from '../../messaging/state-definition.ts'
import { putState, removeState } from '../../store/states.ts'
import { assertFits, namedState, noOwner, noState, stateExpiry, stateName } from './state-owner.ts'

export const setState = operation({
  name: 'setState',
  description: 'Replaces a state, or creates it; a payload of null removes it.',
  method: 'POST',
  path: '/v1/chat/states/{type}/{id}/{name}',
  access: 'bot',
  errors: ['InvalidJsonSchema', 'InvalidDataFormat', 'LimitExceeded'],
  input: closedObject({ ...stateName, payload: { type: ['object', 'null'] } }, { expiry: stateExpiry }),
  output: closedObject({ state }),

  async handle(context, input) {
    const { payload, expiry } = input
    return {
      state: await once(context, input, async (db) => {
        const name = await namedState({ ...context, db }, input)
        const definition = await stateDefinition(db, name)
        const completed = payload && definition.complete(payload)
        if (completed) assertFits(completed)
        const state = { ...name, id: newId('state'), expiry: expiry === undefined ? definition.expiry : expiry }
        if (completed) {
          const row = await putState(db, { ...state, payload: completed })
          if (!row) throw noOwner(input)
          return toState(row)
        }
        const removed = await removeState(db, name)
        if (!removed) throw noState(input)
        return { ...toState(removed), payload: {} }
      }),
    }
  },
})
