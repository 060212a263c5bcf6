import { closedObject } from '../../schema.ts'
import { usage, usagePeriod, usageType } from '../../models/usage.ts'
import { operation } from '../../rpc/operation.ts'
import { countUsage, monthFor, notOfBots } from './count-usage.ts'

export const getUsage = operation({
  name: 'getUsage',
  description: 'Counts one kind of usage of the workspace or of one of its bots.',
  method: 'GET',
  path: '/v1/admin/usages/{id}',
  access: 'viewer',
  errors: ['InvalidQuery', 'ResourceNotFound'],
  input: closedObject({ id: { type: 'string' }, type: usageType }, { period: usagePeriod }),
  output: closedObject({ usage }),

  async handle(context, { id, type, period }) {
    const counted = await countUsage(context, id, type, monthFor(type, period))
    if (!counted) throw notOfBots(type)
    return { usage: counted }
  },
})
