import { closedObject } from '../../schema.ts'
import { toWebchatUser, webchatUser } from '../../models/webchat.ts'
import { operation } from '../../rpc/operation.ts'
import { presentUser } from '../chat/external-ids.ts'

export const getUser = operation({
  name: 'getUser',
  description: 'Returns the visitor of the key.',
  method: 'GET',
  path: '/webchat/{webhookId}/users/me',
  access: 'user',
  input: closedObject({}),
  output: closedObject({ user: webchatUser }),

  async handle(context) {
    return { user: toWebchatUser(await presentUser(context)) }
  },
})
