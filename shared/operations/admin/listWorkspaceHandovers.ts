import { closedObject } from '../../schema.ts'
import { handoverFilter, listedHandover, toListedHandover } from '../../models/handover.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfWorkspaceHandovers } from '../../store/handover-lists.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'

export const listWorkspaceHandovers = operation({
  name: 'listWorkspaceHandovers',
  description:
    'Lists the handovers in all bots of the workspace: those in progress unless a `status` is given, the oldest first; ' +
    'others the newest first.',
  method: 'GET',
  path: '/v1/admin/handovers',
  access: 'agent',
  stability: 'experimental',
  errors: ['LimitExceeded'],
  input: closedObject(
    {},
    { ...pageInput, ...handoverFilter, botId: { type: 'string', description: 'Only those of this bot.' } },
  ),
  output: closedObject({
    handovers: {
      type: 'array',
      items: closedObject({
        bot: closedObject({ id: { type: 'string' }, name: { type: 'string' } }),
        handover: listedHandover,
      }),
    },
    meta: pageMeta,
  }),

  async handle({ db, caller }, input) {
    const { workspaceId, accountId } = caller
    const search = { status: 'open' as const, ...input, workspaceId, reader: accountId }
    const found = await pageOfWorkspaceHandovers(db, search, pageRequest(input))
    return {
      handovers: found.rows.map((row) => ({
        bot: { id: row.bot_id, name: row.bot_name },
        handover: toListedHandover(row),
      })),
      meta: toMeta(found),
    }
  },
})
