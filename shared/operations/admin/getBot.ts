import { closedObject } from '../../schema.ts'
import { bot } from '../../models/bot.ts'
import { operation } from '../../rpc/operation.ts'
import { describeBot } from './describe-bot.ts'

export const getBot = operation({
  name: 'getBot',
  description: 'Returns a bot with its deployed version and its installations.',
  method: 'GET',
  path: '/v1/admin/bots/{id}',
  access: 'viewer',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({ bot }),

  async handle(context, { id }) {
    return { bot: await describeBot(context, id) }
  },
})
