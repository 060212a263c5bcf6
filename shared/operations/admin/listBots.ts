import { closedObject } from '../../schema.ts'
import { pageMeta, toMeta } from '../../store/pagination.ts'
import { sortedPageRequest, sortInput } from '../../store/listing.ts'
import { botSummary, toBotSummary } from '../../models/bot.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfBots } from '../../store/bots.ts'

const names = { type: 'array', maxItems: 100, items: { type: 'string' } } as const

export const listBots = operation({
  name: 'listBots',
  description:
    'Lists the workspace’s bots, newest first unless sorted otherwise: those in production, or those under development.',
  method: 'GET',
  path: '/v1/admin/bots',
  access: 'viewer',
  stability: 'documented',
  input: closedObject(
    {},
    {
      ...sortInput,
      dev: { type: 'boolean', default: false },
      tags: { type: 'object', additionalProperties: { type: 'string' } },
      integrationNames: {
        ...names,
        description: 'Only bots that have an integration of one of these names installed.',
      },
      pluginNames: { ...names, description: 'Only bots that have a plugin of one of these names.' },
    },
  ),
  output: closedObject({ bots: { type: 'array', items: botSummary }, meta: pageMeta }),

  async handle({ db, caller }, input) {
    const page = await pageOfBots(db, caller.workspaceId, input, sortedPageRequest(input))
    return { bots: page.rows.map(toBotSummary), meta: toMeta(page) }
  },
})
