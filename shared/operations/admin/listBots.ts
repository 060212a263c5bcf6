import { closedObject } from '../../schema.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'
import { botSummary, toBotSummary } from '../../models/bot.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfBots } from '../../store/bots.ts'

export const listBots = operation({
  name: 'listBots',
  description: 'Lists the workspace’s bots, newest first: those in production, or those under development.',
  method: 'GET',
  path: '/v1/admin/bots',
  access: 'viewer',
  stability: 'documented',
  input: closedObject(
    {},
    {
      ...pageInput,
      dev: { type: 'boolean', default: false },
      tags: { type: 'object', additionalProperties: { type: 'string' } },
    },
  ),
  output: closedObject({ bots: { type: 'array', items: botSummary }, meta: pageMeta }),

  async handle({ db, caller }, input) {
    const page = await pageOfBots(db, caller.workspaceId, input, pageRequest(input))
    return { bots: page.rows.map(toBotSummary), meta: toMeta(page) }
  },
})
