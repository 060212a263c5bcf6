import { toUser, user } from '../../models/user.ts'
import { operation } from '../../operation.ts'
import { findKnownUser } from '../../store/users.ts'
import { ApiError } from '../../errors.ts'

export const getUser = operation({
  name: 'getUser',
  description: 'Gives the user whose key it is.',
  method: 'GET',
  path: '/chat/{webhookId}/users/me',
  access: 'user',
  input: { type: 'object', additionalProperties: false, properties: {} },
  output: { type: 'object', additionalProperties: false, required: ['user'], properties: { user } },

  async handle({ db, caller }) {
    const row = await findKnownUser(db, caller.installation.id, caller.knownId)
    if (!row) throw new ApiError('ResourceNotFound', `There is no user '${caller.knownId}' (any more)`)
    return { user: toUser(row, caller.knownId) }
  },
})
