import { closedObject } from '../../schema.ts'
import { requireEntry } from '../../integrations/catalogue.ts'
import { plugin, toPlugin } from '../../models/plugin.ts'
import { operation } from '../../rpc/operation.ts'

export const getPlugin = operation({
  name: 'getPlugin',
  description: 'Returns a version of a plugin in full.',
  method: 'GET',
  path: '/v1/admin/plugins/{id}',
  access: 'viewer',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({ plugin }),

  async handle({ db, caller }, { id }) {
    return { plugin: toPlugin(await requireEntry(db, 'plugins', { workspaceId: caller.workspaceId }, id)) }
  },
})
