import { closedObject } from '../../schema.ts'
import { handover, toHandover } from '../../models/handover.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfOpenHandovers } from '../../store/handovers.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'

export const listWorkspaceHandovers = operation({
  name: 'listWorkspaceHandovers',
  description: 'Lists the handovers in progress in all bots of the workspace, the oldest first.',
  method: 'GET',
  path: '/v1/admin/handovers',
  access: 'agent',
  stability: 'experimental',
  input: closedObject(
    {},
    {
      ...pageInput,
      status: { enum: ['pending', 'assigned'] },
      memberId: { type: 'string', description: 'The account of the member who answers.' },
    },
  ),
  output: closedObject({
    handovers: {
      type: 'array',
      items: closedObject({ bot: closedObject({ id: { type: 'string' }, name: { type: 'string' } }), handover }),
    },
    meta: pageMeta,
  }),

  async handle({ db, caller }, { status, memberId, ...paging }) {
    const where = { workspaceId: caller.workspaceId, status, accountId: memberId }
    const found = await pageOfOpenHandovers(db, where, pageRequest(paging))
    return {
      handovers: found.rows.map((row) => ({ bot: { id: row.bot_id, name: row.bot_name }, handover: toHandover(row) })),
      meta: toMeta(found),
    }
  },
})
