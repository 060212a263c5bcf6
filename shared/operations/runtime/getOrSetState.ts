import { closedObject } from '../../schema.ts'
import { newId } from '../../ids.ts'
import { once } from '../../rpc/journal.ts'
import { state, toState } from '../../models/state.ts'
import { operation } from '../../rpc/operation.ts'
import { stateDefinition } from '../../messaging/state-definition.ts'
import type { Database } from '../../store/database.ts'
import { ensureState, touchState, type NewState, type StateName } from '../../store/states.ts'
import { assertFits, namedState, noOwner, stateExpiry, stateMeta, stateName } from './state-owner.ts'

export const getOrSetState = operation({
  name: 'getOrSetState',
  description: 'Returns a state; creates it if it does not exist.',
  method: 'POST',
  path: '/v1/chat/states/{type}/{id}/{name}/get-or-set',
  access: 'bot',
  errors: ['InvalidJsonSchema', 'InvalidDataFormat', 'LimitExceeded'],
  input: closedObject({ ...stateName, payload: { type: 'object' } }, { expiry: stateExpiry }),
  output: closedObject({ state, meta: stateMeta }),

  async handle(context, input) {
    const kept = await once(context, input, async (db) => {
      const name = await namedState({ ...context, db }, input)
      const row = (await touchState(db, name)) ?? (await ensureState(db, await toNewState(db, name, input)))
      if (!row) throw noOwner(input)
      return toState(row)
    })
    return { state: kept, meta: { cached: false } }
  },
})

async function toNewState(
  db: Database,
  name: StateName,
  { payload, expiry }: { payload: Record<string, unknown>; expiry?: number | null },
): Promise<NewState> {
  const definition = await stateDefinition(db, name)
  const completed = definition.complete(payload)
  assertFits(completed)
  return { ...name, id: newId('state'), payload: completed, expiry: expiry === undefined ? definition.expiry : expiry }
}
