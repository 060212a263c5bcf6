import { closedObject } from '../../schema.ts'
import { requireVersion } from '../../integrations/catalogue.ts'
import { plugin, toPlugin } from '../../models/plugin.ts'
import { operation } from '../../rpc/operation.ts'

export const getPublicPlugin = operation({
  name: 'getPublicPlugin',
  description:
    'Returns the newest version of a public plugin that matches: an exact version, a semantic range, or `latest`.',
  method: 'GET',
  path: '/v1/admin/hub/plugins/{name}/{version}',
  access: 'viewer',
  errors: ['ResourceNotFound'],
  input: closedObject({
    name: { type: 'string' },
    version: { type: 'string', description: 'A version, a range such as `>=1.0.0 <2.0.0`, or `latest`.' },
  }),
  output: closedObject({ plugin }),

  async handle({ db }, wanted) {
    return { plugin: toPlugin(await requireVersion(db, 'plugins', 'public', wanted)) }
  },
})
