import { ApiError } from '../../errors.ts'
import { newId } from '../../ids.ts'
import { once } from '../../journal.ts'
import { state, stateLimit, toState } from '../../models/state.ts'
import { operation } from '../../operation.ts'
import { putState, removeState } from '../../store/states.ts'
import { namedState, stateName } from './state-owner.ts'

const longestExpiry = 30 * 24 * 60 * 60 * 1000

export const setState = operation({
  name: 'setState',
  description: 'Replaces a state of the bot, of one of its users, or of one of its conversations; null removes it.',
  method: 'POST',
  path: '/v1/chat/states/{type}/{id}/{name}',
  access: 'bot',
  input: {
    type: 'object',
    additionalProperties: false,
    required: ['type', 'id', 'name', 'payload'],
    properties: {
      ...stateName,
      payload: { type: ['object', 'null'] },
      expiry: {
        type: ['integer', 'null'],
        minimum: 1,
        maximum: longestExpiry,
        description: 'Milliseconds after the last change at which the state is forgotten; null for never.',
      },
    },
  },
  output: { type: 'object', additionalProperties: false, required: ['state'], properties: { state } },

  async handle(context, input) {
    const { payload, expiry } = input
    if (JSON.stringify(payload).length > stateLimit) {
      throw new ApiError('LimitExceeded', `A state holds at most ${stateLimit / 1024} KB of JSON`)
    }
    const name = await namedState(context, input)
    return {
      state: await once(context, input, async (db) => {
        if (payload)
          return toState(await putState(db, { ...name, id: newId('state'), payload, expiry: expiry ?? null }))
        const removed = await removeState(db, name)
        if (!removed)
          throw new ApiError('ResourceNotFound', `The ${input.type} '${input.id}' has no state '${input.name}'`)
        return { ...toState(removed), payload: {} }
      }),
    }
  },
})
