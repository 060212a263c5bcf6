import { closedObject } from '../../schema.ts'
import { apiKey, toApiKey } from '../../models/api-key.ts'
import { operation } from '../../rpc/operation.ts'
import { findBot } from '../../store/bots.ts'
import { listTokens } from '../../store/tokens.ts'
import { noSuchBot } from './describe-bot.ts'

export const listBotApiKeys = operation({
  name: 'listBotApiKeys',
  description: 'Lists the tokens of a bot, newest first, without their values.',
  method: 'GET',
  path: '/v1/admin/bots/baks',
  access: 'developer',
  errors: ['ResourceNotFound'],
  input: closedObject({ botId: { type: 'string' } }),
  output: closedObject({ baks: { type: 'array', items: apiKey } }),

  async handle({ db, caller }, { botId }) {
    if (!(await findBot(db, caller.workspaceId, botId))) throw noSuchBot(botId)
    return { baks: (await listTokens(db, { botId })).map(toApiKey) }
  },
})
