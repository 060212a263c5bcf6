import { ApiError } from '../../errors.ts'
import { runtimeUser, toRuntimeUser } from '../../models/user.ts'
import { operation } from '../../operation.ts'
import { findUser } from '../../store/users.ts'

export const getUser = operation({
  name: 'getUser',
  description: 'Gives one of the bot’s users; the bot itself is one, by its own id.',
  method: 'GET',
  path: '/v1/chat/users/{id}',
  access: 'bot',
  input: { type: 'object', additionalProperties: false, required: ['id'], properties: { id: { type: 'string' } } },
  output: { type: 'object', additionalProperties: false, required: ['user'], properties: { user: runtimeUser } },

  async handle({ db, caller }, { id }) {
    const row = await findUser(db, caller.botId, id)
    if (!row) throw new ApiError('ResourceNotFound', `The bot has no user '${id}'`)
    return { user: toRuntimeUser(row) }
  },
})
