import { closedObject } from '../../schema.ts'
import { isBotUsage, usage, usagePeriod, usageType } from '../../models/usage.ts'
import { operation } from '../../rpc/operation.ts'
import { countOfBots, countOfWorkspace } from '../../store/usage.ts'
import { monthFor, toUsage } from './count-usage.ts'
import { findOwnWorkspace } from './find-own-workspace.ts'

export const listWorkspaceUsages = operation({
  name: 'listWorkspaceUsages',
  description: 'Counts one kind of usage of a workspace, and then of each of its bots, the oldest first.',
  method: 'GET',
  path: '/v1/admin/workspaces/{id}/usages',
  access: 'viewer',
  errors: ['InvalidQuery', 'ResourceNotFound'],
  input: closedObject({ id: { type: 'string' }, type: usageType }, { period: usagePeriod }),
  output: closedObject({ usages: { type: 'array', items: usage } }),

  async handle(context, { id, type, period }) {
    await findOwnWorkspace(context, id)
    const month = monthFor(type, period)
    const toRow = (of: string, value: number) => toUsage(context, of, type, month, value)
    if (!isBotUsage(type)) return { usages: [toRow(id, await countOfWorkspace(context.db, id, type))] }
    const counts = await countOfBots(context.db, { workspaceId: id }, type, month)
    const sum = counts.reduce((total, { value }) => total + value, 0)
    return { usages: [toRow(id, sum), ...counts.map(({ botId, value }) => toRow(botId, value))] }
  },
})
