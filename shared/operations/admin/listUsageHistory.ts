import { closedObject } from '../../schema.ts'
import { monthOf, usage, usageType } from '../../models/usage.ts'
import { operation } from '../../rpc/operation.ts'
import { countUsage, notOfBots } from './count-usage.ts'

/** Months of the history of calls. */
const months = 12

export const listUsageHistory = operation({
  name: 'listUsageHistory',
  description:
    'Counts the calls of the workspace or of one of its bots in each of the last 12 months, the present one first. Other ' +
    'kinds of usage are counted at present only.',
  method: 'GET',
  path: '/v1/admin/usages/{id}/history',
  access: 'viewer',
  errors: ['InvalidQuery', 'ResourceNotFound'],
  input: closedObject({ id: { type: 'string' }, type: usageType }),
  output: closedObject({ usages: { type: 'array', items: usage } }),

  async handle(context, { id, type }) {
    const usages = []
    const now = new Date()
    for (let back = 0; back < (type === 'invocation_calls' ? months : 1); back++) {
      const counted = await countUsage(context, id, type, monthOf(now, back))
      if (!counted) throw notOfBots(type)
      usages.push(counted)
    }
    return { usages }
  },
})
