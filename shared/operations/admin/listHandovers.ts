import { closedObject } from '../../schema.ts'
import { handoverFilter, listedHandover, toListedHandover } from '../../models/handover.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfHandovers } from '../../store/handover-lists.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'
import { findOwnBot } from './find-version.ts'

export const listHandovers = operation({
  name: 'listHandovers',
  description: 'Lists the handovers of a bot’s conversations, the newest first.',
  method: 'GET',
  path: '/v1/admin/bots/{botId}/handovers',
  access: 'agent',
  stability: 'experimental',
  errors: ['ResourceNotFound', 'LimitExceeded'],
  input: closedObject(
    { botId: { type: 'string' } },
    { ...pageInput, ...handoverFilter, conversationId: { type: 'string' } },
  ),
  output: closedObject({ handovers: { type: 'array', items: listedHandover }, meta: pageMeta }),

  async handle(context, { botId, ...input }) {
    await findOwnBot(context, botId)
    const search = { status: 'all' as const, ...input, botId, reader: context.caller.accountId }
    const found = await pageOfHandovers(context.db, search, pageRequest(input))
    return { handovers: found.rows.map(toListedHandover), meta: toMeta(found) }
  },
})
