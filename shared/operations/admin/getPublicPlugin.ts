import { closedObject } from '../../schema.ts'
import { requireVersion } from '../../integrations/catalogue.ts'
import { plugin, toPlugin } from '../../models/plugin.ts'
import { nameAndRange } from '../../models/version-range.ts'
import { operation } from '../../rpc/operation.ts'

export const getPublicPlugin = operation({
  name: 'getPublicPlugin',
  description:
    'Returns the newest version of a public plugin that matches: an exact version, a semantic range, or `latest`.',
  method: 'GET',
  path: '/v1/admin/hub/plugins/{name}/{version}',
  access: 'viewer',
  errors: ['ResourceNotFound'],
  input: closedObject(nameAndRange),
  output: closedObject({ plugin }),

  async handle({ db }, wanted) {
    return { plugin: toPlugin(await requireVersion(db, 'plugins', 'public', wanted)) }
  },
})
