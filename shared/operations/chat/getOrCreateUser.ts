import { ApiError } from '../../errors.ts'
import { newId } from '../../ids.ts'
import { toUser, user, userFields } from '../../models/user.ts'
import { operation } from '../../operation.ts'
import { compile, describeErrors } from '../../schema.ts'
import { findKnownUser, insertUser, updateUser } from '../../store/users.ts'
import { foreignId } from './known.ts'

const isForeignId = compile(foreignId, 'body')

export const getOrCreateUser = operation({
  name: 'getOrCreateUser',
  description: 'Gives the user whose key it is, with the given fields set; creates the user when there is none yet.',
  method: 'POST',
  path: '/chat/{webhookId}/users/get-or-create',
  access: 'user',
  status: 201,
  input: { type: 'object', additionalProperties: false, properties: userFields },
  output: { type: 'object', additionalProperties: false, required: ['user'], properties: { user } },

  async handle({ db, caller }, fields) {
    const { installation, knownId } = caller
    const existing = await findKnownUser(db, installation.id, knownId)
    const updated = existing && (await updateUser(db, installation.bot_id, existing.id, fields))
    if (updated) return { user: toUser(updated, knownId) }
    const id: unknown = knownId
    if (!isForeignId(id)) {
      throw new ApiError('InvalidPayload', `The id in the key cannot be a user's: ${describeErrors(isForeignId)}`)
    }
    const row =
      (await insertUser(db, {
        id: newId('user'),
        botId: installation.bot_id,
        installationId: installation.id,
        foreignId: knownId,
        ...fields,
      })) ?? (await findKnownUser(db, installation.id, knownId))
    if (!row) throw new ApiError('ResourceNotFound', `The user '${knownId}' was deleted just now: try again`)
    return { user: toUser(row, knownId) }
  },
})
