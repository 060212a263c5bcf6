import { closedObject } from '../../schema.ts'
import { runtimeUser, toRuntimeUser } from '../../models/user.ts'
import { operation } from '../../rpc/operation.ts'
import { findRuntimeUser } from '../../store/runtime-users.ts'
import { noUser } from './not-found.ts'

export const getUser = operation({
  name: 'getUser',
  description: 'Returns one of the bot’s users; the bot’s own id is that of its own user.',
  method: 'GET',
  path: '/v1/chat/users/{id}',
  access: 'bot',
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({ user: runtimeUser }),

  async handle({ db, caller }, { id }) {
    const row = await findRuntimeUser(db, caller, id)
    if (!row) throw noUser(id)
    return { user: toRuntimeUser(row, caller) }
  },
})
