import { closedObject } from '../../schema.ts'
import { toUser, user, userFields } from '../../models/user.ts'
import { operation } from '../../rpc/operation.ts'
import { updateUser as updateUserRow } from '../../store/users.ts'
import { noSuchUser, presentUser } from './external-ids.ts'

export const updateUser = operation({
  name: 'updateUser',
  description: 'Sets the given fields of the user of the key.',
  method: 'PUT',
  path: '/chat/{webhookId}/users/me',
  access: 'user',
  input: closedObject({}, userFields),
  output: closedObject({ user }),

  async handle(context, fields) {
    const { db, caller } = context
    const { id } = await presentUser(context)
    const updated = await updateUserRow(db, caller.installation.bot_id, id, fields)
    if (!updated) throw noSuchUser(caller)
    return { user: toUser(updated, caller.externalId) }
  },
})
