import { closedObject } from '../../schema.ts'
import { noSuchEntry } from '../../integrations/catalogue.ts'
import { operation } from '../../rpc/operation.ts'
import { deleteEntry } from '../../store/catalogue.ts'

export const deletePlugin = operation({
  name: 'deletePlugin',
  description: 'Deletes a version of a plugin. Bots that have it go on with what was deployed.',
  method: 'DELETE',
  path: '/v1/admin/plugins/{id}',
  access: 'developer',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({}),

  async handle({ db, caller }, { id }) {
    if (!(await deleteEntry(db, 'plugins', caller.workspaceId, id))) throw noSuchEntry('plugins', id)
    return {}
  },
})
