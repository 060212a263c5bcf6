import { closedObject } from '../../schema.ts'
import { requireEntry } from '../../integrations/catalogue.ts'
import { plugin, toPlugin } from '../../models/plugin.ts'
import { operation } from '../../rpc/operation.ts'

export const getPublicPluginById = operation({
  name: 'getPublicPluginById',
  description: 'Returns a version of a public plugin in full.',
  method: 'GET',
  path: '/v1/admin/hub/plugins/{id}',
  access: 'viewer',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({ plugin }),

  async handle({ db }, { id }) {
    return { plugin: toPlugin(await requireEntry(db, 'plugins', 'public', id)) }
  },
})
