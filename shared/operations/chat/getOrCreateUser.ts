import { closedObject } from '../../schema.ts'
import { newId } from '../../ids.ts'
import { toUser, user, userFields } from '../../models/user.ts'
import { operation } from '../../rpc/operation.ts'
import { findKeyHolder, insertUser, updateUser } from '../../store/users.ts'
import { assertExternalId, noSuchUser } from './external-ids.ts'

export const getOrCreateUser = operation({
  name: 'getOrCreateUser',
  description:
    'Sets the given fields of the user of the key and returns the user; creates the user if it does not exist.',
  method: 'POST',
  path: '/chat/{webhookId}/users/get-or-create',
  access: 'user',
  status: 201,
  input: closedObject({}, userFields),
  output: closedObject({ user }),

  async handle({ db, caller }, fields) {
    const { installation, externalId, key } = caller
    const existing = await findKeyHolder(db, installation.id, key)
    const updated = existing && (await updateUser(db, installation.bot_id, existing.id, fields))
    if (updated) return { user: toUser(updated, externalId) }
    // A key bound to a user creates that user again under its former id; no other key can.
    const { boundUserId } = key
    const isNamed = boundUserId !== externalId
    if (isNamed) assertExternalId(externalId, 'The id in the key')
    const row =
      (await insertUser(db, {
        id: boundUserId ?? newId('user'),
        botId: installation.bot_id,
        installationId: installation.id,
        ...(isNamed && { externalId: externalId, refusesOlderKeys: boundUserId !== undefined }),
        ...fields,
      })) ?? (await findKeyHolder(db, installation.id, key))
    if (!row) throw noSuchUser(caller)
    return { user: toUser(row, externalId) }
  },
})
