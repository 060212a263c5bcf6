import { closedObject } from '../../schema.ts'
import { state, toState } from '../../models/state.ts'
import { operation } from '../../rpc/operation.ts'
import { newId } from '../../ids.ts'
import { stateDefinition } from '../../messaging/state-definition.ts'
import type { StateRow } from '../../models/tables.ts'
import type { Database } from '../../store/database.ts'
import { ensureState, touchState, type StateName } from '../../store/states.ts'
import { namedState, noState, stateMeta, stateName } from './state-owner.ts'

export const getState = operation({
  name: 'getState',
  description:
    'Returns a state. Each read of a state with an expiry restarts its expiry period. A state whose declared schema has a ' +
    'default for each field has these before it is set.',
  method: 'GET',
  path: '/v1/chat/states/{type}/{id}/{name}',
  access: 'bot',
  input: closedObject(stateName),
  output: closedObject({ state, meta: stateMeta }),

  async handle(context, input) {
    const name = await namedState(context, input)
    const row = (await touchState(context.db, name)) ?? (await initialState(context.db, name))
    if (!row) throw noState(input)
    return { state: toState(row), meta: { cached: false } }
  },
})

/** Stores the state that the declared defaults make; undefined where they make none. */
async function initialState(db: Database, name: StateName): Promise<StateRow | undefined> {
  const definition = await stateDefinition(db, name)
  const payload = definition.initial()
  return payload && ensureState(db, { ...name, id: newId('state'), payload, expiry: definition.expiry })
}
