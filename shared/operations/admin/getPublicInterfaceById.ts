import { closedObject } from '../../schema.ts'
import { requireEntry } from '../../integrations/catalogue.ts'
import { interfaceOutput, toInterface } from '../../models/interface.ts'
import { operation } from '../../rpc/operation.ts'

export const getPublicInterfaceById = operation({
  name: 'getPublicInterfaceById',
  description: 'Returns a version of a public interface in full.',
  method: 'GET',
  path: '/v1/admin/hub/interfaces/{id}',
  access: 'viewer',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({ interface: interfaceOutput }),

  async handle({ db }, { id }) {
    return { interface: toInterface(await requireEntry(db, 'interfaces', 'public', id)) }
  },
})
