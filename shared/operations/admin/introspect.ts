import { closedObject } from '../../schema.ts'
import { operation } from '../../rpc/operation.ts'
import { findMemberForBot } from '../../store/accounts.ts'
import { findWorkspaceOf } from '../../store/bots.ts'
import { noSuchBot } from './describe-bot.ts'

export const introspect = operation({
  name: 'introspect',
  description:
    'Returns the workspace of a bot to a member, and to the bot and its integrations; an integration’s token needs ' +
    '`x-bot-id`.',
  method: 'POST',
  path: '/v1/admin/introspect',
  access: 'token',
  changesNothing: true,
  errors: ['ResourceNotFound'],
  input: closedObject({ botId: { type: 'string' } }),
  output: closedObject({
    workspaceId: { type: 'string' },
    botId: { type: 'string' },
    userId: { type: 'string', description: 'The account of a personal token; for others, the user that the bot is.' },
  }),

  async handle({ db, caller }, { botId }) {
    const accountId = caller.kind === 'account' ? caller.accountId : caller.member?.accountId
    if (accountId !== undefined) {
      const member = await findMemberForBot(db, botId, accountId)
      if (!member) throw noSuchBot(botId)
      return { workspaceId: member.workspaceId, botId, userId: accountId }
    }
    const own = 'botId' in caller && caller.botId === botId ? await findWorkspaceOf(db, botId) : undefined
    if (own === undefined) throw noSuchBot(botId)
    return { workspaceId: own, botId, userId: botId }
  },
})
