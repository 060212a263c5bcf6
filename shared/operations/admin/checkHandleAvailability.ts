import { closedObject } from '../../schema.ts'
import { handle } from '../../models/workspace.ts'
import { operation } from '../../rpc/operation.ts'
import { usedHandles } from '../../store/workspaces.ts'

export const checkHandleAvailability = operation({
  name: 'checkHandleAvailability',
  description: 'Checks whether a handle is available for the workspace; if not, suggests similar available handles.',
  method: 'PUT',
  path: '/v1/admin/workspaces/handle-availability',
  access: 'administrator',
  changesNothing: true,
  input: closedObject({ handle }),
  output: closedObject({ available: { type: 'boolean' }, suggestions: { type: 'array', items: { type: 'string' } } }),

  async handle({ db, caller }, { handle: wanted }) {
    const similar = ['2', '3', 'bots'].map((ending) => `${wanted.slice(0, 59)}-${ending}`)
    const taken = await usedHandles(db, [wanted, ...similar])
    const others = new Set(taken.filter(({ id }) => id !== caller.workspaceId).map((row) => row.handle))
    const available = !others.has(wanted)
    return { available, suggestions: available ? [] : similar.filter((one) => !others.has(one)) }
  },
})
