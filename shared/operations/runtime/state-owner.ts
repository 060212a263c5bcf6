import { closedObject } from '../../schema.ts'
import type { BotContext } from '../../rpc/caller.ts'
import { ApiError, notFound } from '../../errors.ts'
import { storedLength } from '../../json/exponents.ts'
import { flowStateName, longestExpiry, stateLimit, stateTypes } from '../../models/state.ts'
import { findScopedConversation } from '../../store/runtime-conversations.ts'
import { findRuntimeUser } from '../../store/runtime-users.ts'
import type { StateName } from '../../store/states.ts'
import type { StateType } from '../../models/tables.ts'
import { findWorkflow } from '../../store/workflows.ts'

/** The path parameters that name a state. */
export const stateName = {
  type: { enum: stateTypes },
  id: {
    type: 'string',
    description: 'The id of the bot, user, conversation, workflow or integration that owns the state.',
  },
  name: { type: 'string', minLength: 1, maxLength: 200 },
} as const

export const stateExpiry = {
  type: ['integer', 'null'],
  minimum: 1,
  maximum: longestExpiry,
  description: 'Milliseconds without a read or a write after which the state is deleted; null for never.',
} as const

/** The `meta` of a state in an answer. No state is cached. */
export const stateMeta = closedObject({ cached: { type: 'boolean' } })

interface Named {
  type: StateType
  id: string
  name: string
}

/**
 * Returns the name of a state, after checking that its owner belongs to the bot. The states of an installed integration
 * are separate from the bot's, even under equal names.
 *
 * @throws ApiError `ResourceNotFound`; `Forbidden` when only an integration has states of that type
 */
export async function namedState({ db, caller }: BotContext, { type, id, name }: Named): Promise<StateName> {
  const { botId, installation } = caller
  if (name === flowStateName) throw new ApiError('Forbidden', `The state '${flowStateName}' belongs to the platform`)
  const own = { botId, type, name, installationId: installation?.id ?? null }
  if (type === 'integration') {
    if (!installation) throw new ApiError('Forbidden', 'States of type integration are for installed integrations')
    // Upstream sends the integration's id; the caller determines the installation whose state it is.
    if (id === installation.integration_id || id === installation.id) return { ...own, ownerId: installation.id }
  } else {
    const isOwner = {
      bot: () => id === botId,
      user: () => findRuntimeUser(db, caller, id),
      conversation: () => findScopedConversation(db, caller, id),
      workflow: () => !installation && findWorkflow(db, caller, id),
    }
    if (await isOwner[type]()) return { ...own, ownerId: id }
  }
  throw noOwner({ type, id })
}

/** For an owner that does not exist, or has been deleted since the name was checked. */
export function noOwner({ type, id }: Pick<Named, 'type' | 'id'>): ApiError {
  return notFound(`State owner ${type} '${id}'`)
}

export function noState({ type, id, name }: Named): ApiError {
  return notFound(`State '${name}' of ${type} '${id}'`)
}

/** @throws ApiError `LimitExceeded` */
export function assertFits(payload: Record<string, unknown>): void {
  if (storedLength(JSON.stringify(payload)) <= stateLimit) return
  throw new ApiError('LimitExceeded', `A state holds at most ${stateLimit / 1024} KB of JSON`)
}
