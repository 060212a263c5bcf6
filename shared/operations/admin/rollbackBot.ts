import { closedObject } from '../../schema.ts'
import { bot } from '../../models/bot.ts'
import { operation } from '../../rpc/operation.ts'
import { describeBot } from './describe-bot.ts'
import { deployAgain } from './deploy-version.ts'

export const rollbackBot = operation({
  name: 'rollbackBot',
  description: 'Deploys the version before the deployed one. It skips suspended versions.',
  method: 'POST',
  path: '/v1/admin/bots/{id}/rollback',
  access: 'developer',
  stability: 'experimental',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({ bot }),

  async handle(context, { id }) {
    await deployAgain(context, id)
    return { bot: await describeBot(context, id) }
  },
})
