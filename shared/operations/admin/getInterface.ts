import { closedObject } from '../../schema.ts'
import { requireEntry } from '../../integrations/catalogue.ts'
import { interfaceOutput, toInterface } from '../../models/interface.ts'
import { operation } from '../../rpc/operation.ts'

export const getInterface = operation({
  name: 'getInterface',
  description: 'Returns a version of an interface in full.',
  method: 'GET',
  path: '/v1/admin/interfaces/{id}',
  access: 'viewer',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({ interface: interfaceOutput }),

  async handle({ db, caller }, { id }) {
    return { interface: toInterface(await requireEntry(db, 'interfaces', { workspaceId: caller.workspaceId }, id)) }
  },
})
