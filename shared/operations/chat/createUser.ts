import { closedObject } from '../../schema.ts'
import { ApiError } from '../../errors.ts'
import { newId } from '../../ids.ts'
import { chatConfigurationOf } from '../../models/chat-configuration.ts'
import { toUser, user, userFields } from '../../models/user.ts'
import { operation } from '../../rpc/operation.ts'
import { insertUser } from '../../store/users.ts'
import { bindingTo, encryptionKeyOf, signUserKey } from '../../integrations/user-keys.ts'
import { assertExternalId, externalId } from './external-ids.ts'

export const createUser = operation({
  name: 'createUser',
  description: 'Creates a user and returns the user’s key. Not for chats with their own encryption key.',
  method: 'POST',
  path: '/chat/{webhookId}/users',
  access: 'visitor',
  stability: 'documented',
  errors: ['Unauthorized', 'AlreadyExists'],
  status: 201,
  input: closedObject({}, { ...userFields, id: externalId }),
  output: closedObject({ user, key: { type: 'string' } }),

  async handle({ db, config, caller: { installation } }, { id, ...fields }) {
    if (chatConfigurationOf(installation).encryptionKey !== undefined) {
      throw new ApiError(
        'Unauthorized',
        'This chat has its own encryption key, so createUser is disabled: ' +
          'sign { id } with it (a JSON Web Token, HS256), send that as x-user-key, and call POST /users/get-or-create',
      )
    }
    if (id !== undefined) assertExternalId(id)
    const row = await insertUser(db, {
      id: newId('user'),
      botId: installation.bot_id,
      installationId: installation.id,
      ...(id && { externalId: id, tags: { fid: id }, refusesOlderKeys: true }),
      ...fields,
    })
    if (!row) throw new ApiError('AlreadyExists', `User '${id}' already exists: use its key, or another id`)
    const created = toUser(row)
    const binding = bindingTo(installation, config.secret, row.id)
    const key = await signUserKey(encryptionKeyOf(installation, config.secret), created.id, binding)
    return { user: created, key }
  },
})
