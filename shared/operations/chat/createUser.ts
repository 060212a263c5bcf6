import { ApiError } from '../../errors.ts'
import { newId } from '../../ids.ts'
import { toUser, user, userFields } from '../../models/user.ts'
import { operation } from '../../operation.ts'
import { sharedEncryptionKey } from '../../secrets.ts'
import { insertUser } from '../../store/users.ts'
import { signUserKey } from '../../user-keys.ts'
import { foreignId } from './known.ts'

export const createUser = operation({
  name: 'createUser',
  description: 'Creates a user and gives the key that proves to be that user. Needs no key itself.',
  method: 'POST',
  path: '/chat/{webhookId}/users',
  access: 'visitor',
  status: 201,
  input: { type: 'object', additionalProperties: false, properties: { ...userFields, id: foreignId } },
  output: {
    type: 'object',
    additionalProperties: false,
    required: ['user', 'key'],
    properties: { user, key: { type: 'string' } },
  },

  async handle({ db, config, caller: { installation } }, { id, ...fields }) {
    const row = await insertUser(db, {
      id: newId('user'),
      botId: installation.bot_id,
      installationId: installation.id,
      ...(id && { foreignId: id, tags: { fid: id } }),
      ...fields,
    })
    if (!row) throw new ApiError('AlreadyExists', `There is a user '${id}' already: use its key, or another id`)
    const created = toUser(row)
    const key = await signUserKey(sharedEncryptionKey(config.secret, installation.id), created.id)
    return { user: created, key }
  },
})
