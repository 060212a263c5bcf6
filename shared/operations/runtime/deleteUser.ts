import { closedObject } from '../../schema.ts'
import { endStreams } from '../../signals/after-commit.ts'
import { ApiError } from '../../errors.ts'
import { once } from '../../rpc/journal.ts'
import { operation } from '../../rpc/operation.ts'
import { deleteUser as deleteUserRow } from '../../store/users.ts'
import { noUser } from './not-found.ts'

export const deleteUser = operation({
  name: 'deleteUser',
  description: 'Deletes a user with its states, and ends the user’s streams. The user’s messages stay.',
  method: 'DELETE',
  path: '/v1/chat/users/{id}',
  access: 'bot',
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({}),

  async handle(context, input) {
    const { caller } = context
    if (input.id === caller.botId) {
      throw new ApiError('Forbidden', 'The bot’s own user cannot be deleted while the bot exists')
    }
    const conversationIds = await once(context, input, async (db) => {
      const left = await deleteUserRow(db, caller.botId, input.id, caller.installation?.id)
      if (!left) throw noUser(input.id)
      return left
    })
    await endStreams(context, input.id, conversationIds)
    return {}
  },
})
