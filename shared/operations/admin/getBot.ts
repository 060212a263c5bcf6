import { bot } from '../../models/bot.ts'
import { operation } from '../../rpc/operation.ts'
import { describeBot } from './describe-bot.ts'

export const getBot = operation({
  name: 'getBot',
  description: 'Gives a bot in full: the version in service and its installations.',
  method: 'GET',
  path: '/v1/admin/bots/{id}',
  access: 'viewer',
  errors: ['ResourceNotFound'],
  input: { type: 'object', additionalProperties: false, required: ['id'], properties: { id: { type: 'string' } } },
  output: { type: 'object', additionalProperties: false, required: ['bot'], properties: { bot } },

  async handle(context, { id }) {
    return { bot: await describeBot(context, id) }
  },
})
