import { closedObject } from '../../schema.ts'
import { toUser, user } from '../../models/user.ts'
import { operation } from '../../rpc/operation.ts'
import { presentUser } from './external-ids.ts'

export const getUser = operation({
  name: 'getUser',
  description: 'Returns the user of the key.',
  method: 'GET',
  path: '/chat/{webhookId}/users/me',
  access: 'user',
  input: closedObject({}),
  output: closedObject({ user }),

  async handle(context) {
    return { user: toUser(await presentUser(context), context.caller.externalId) }
  },
})
