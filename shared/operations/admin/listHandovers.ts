import { closedObject } from '../../schema.ts'
import { handover, toHandover } from '../../models/handover.ts'
import { handoverStatuses } from '../../models/tables.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfHandovers } from '../../store/handovers.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'
import { findOwnBot } from './find-version.ts'

export const listHandovers = operation({
  name: 'listHandovers',
  description: 'Lists the handovers of a bot’s conversations, the newest first.',
  method: 'GET',
  path: '/v1/admin/bots/{botId}/handovers',
  access: 'agent',
  stability: 'experimental',
  errors: ['ResourceNotFound'],
  input: closedObject(
    { botId: { type: 'string' } },
    {
      ...pageInput,
      status: {
        enum: [...handoverStatuses, 'open'],
        description: '`open`: those that are pending or assigned.',
      },
      memberId: { type: 'string', description: 'The account of the member who answers.' },
    },
  ),
  output: closedObject({ handovers: { type: 'array', items: handover }, meta: pageMeta }),

  async handle(context, { botId, status, memberId, ...paging }) {
    await findOwnBot(context, botId)
    const statuses = status === 'open' ? (['pending', 'assigned'] as const) : status && [status]
    const where = { botId, accountId: memberId, ...(statuses && { statuses }) }
    const page = await pageOfHandovers(context.db, where, pageRequest(paging))
    return { handovers: page.rows.map(toHandover), meta: toMeta(page) }
  },
})
