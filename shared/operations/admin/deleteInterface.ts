import { closedObject } from '../../schema.ts'
import { noSuchEntry } from '../../integrations/catalogue.ts'
import { operation } from '../../rpc/operation.ts'
import { deleteEntry } from '../../store/catalogue.ts'

export const deleteInterface = operation({
  name: 'deleteInterface',
  description: 'Deletes a version of an interface. Integrations that implement it go on with what was deployed.',
  method: 'DELETE',
  path: '/v1/admin/interfaces/{id}',
  access: 'developer',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({}),

  async handle({ db, caller }, { id }) {
    if (!(await deleteEntry(db, 'interfaces', caller.workspaceId, id))) throw noSuchEntry('interfaces', id)
    return {}
  },
})
