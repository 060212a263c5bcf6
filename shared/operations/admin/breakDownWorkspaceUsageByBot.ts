import { closedObject } from '../../schema.ts'
import { isBotUsage, usagePeriod, usageType } from '../../models/usage.ts'
import { operation } from '../../rpc/operation.ts'
import { countOfBots } from '../../store/usage.ts'
import { monthFor, notOfBots } from './count-usage.ts'
import { findOwnWorkspace } from './find-own-workspace.ts'

export const breakDownWorkspaceUsageByBot = operation({
  name: 'breakDownWorkspaceUsageByBot',
  description: 'Counts one kind of usage of each bot of a workspace, the oldest bot first.',
  method: 'GET',
  path: '/v1/admin/workspaces/{id}/usages/by-bot',
  access: 'viewer',
  errors: ['InvalidQuery', 'ResourceNotFound'],
  input: closedObject({ id: { type: 'string' }, type: usageType }, { period: usagePeriod }),
  output: closedObject({
    data: { type: 'array', items: closedObject({ botId: { type: 'string' }, value: { type: 'number' } }) },
  }),

  async handle(context, { id, type, period }) {
    await findOwnWorkspace(context, id)
    if (!isBotUsage(type)) throw notOfBots(type)
    return { data: await countOfBots(context.db, { workspaceId: id }, type, monthFor(type, period)) }
  },
})
