import { closedObject } from '../../schema.ts'
import { endStreams } from '../../signals/after-commit.ts'
import { operation } from '../../rpc/operation.ts'
import { deleteUser as deleteUserRow } from '../../store/users.ts'
import { presentUser } from './external-ids.ts'

export const deleteUser = operation({
  name: 'deleteUser',
  description:
    'Deletes the user of the key, and ends the user’s streams. The user’s messages stay. The id can be used again.',
  method: 'DELETE',
  path: '/chat/{webhookId}/users/me',
  access: 'user',
  input: closedObject({}),
  output: closedObject({}),

  async handle(context) {
    const { id } = await presentUser(context)
    const conversationIds = await deleteUserRow(context.db, context.caller.installation.bot_id, id)
    await endStreams(context, id, conversationIds ?? [])
    return {}
  },
})
