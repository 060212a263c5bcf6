import { closedObject } from '../../schema.ts'
import { usage, usagePeriod, usageType } from '../../models/usage.ts'
import { operation } from '../../rpc/operation.ts'
import { countUsage, monthFor } from './count-usage.ts'

export const getMultipleUsages = operation({
  name: 'getMultipleUsages',
  description:
    'Counts some kinds of usage of the workspace and of its bots: each kind for each id, except those that bots do not have.',
  method: 'GET',
  path: '/v1/admin/usages/multiple',
  access: 'viewer',
  errors: ['InvalidQuery', 'ResourceNotFound'],
  input: closedObject(
    {
      types: { type: 'array', minItems: 1, maxItems: 8, items: usageType },
      ids: { type: 'array', minItems: 1, maxItems: 20, items: { type: 'string' } },
    },
    { period: usagePeriod },
  ),
  output: closedObject({ usages: { type: 'array', items: usage } }),

  async handle(context, { types, ids, period }) {
    const usages = []
    // One after the other: a request holds one connection of the pool.
    for (const id of ids) {
      for (const type of types) {
        const counted = await countUsage(context, id, type, monthFor(type, period))
        if (counted) usages.push(counted)
      }
    }
    return { usages }
  },
})
