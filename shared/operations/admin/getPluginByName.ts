import { closedObject } from '../../schema.ts'
import { requireVersion } from '../../integrations/catalogue.ts'
import { plugin, toPlugin } from '../../models/plugin.ts'
import { nameAndRange } from '../../models/version-range.ts'
import { operation } from '../../rpc/operation.ts'

export const getPluginByName = operation({
  name: 'getPluginByName',
  description: 'Returns the newest version of a plugin that matches: an exact version, a semantic range, or `latest`.',
  method: 'GET',
  path: '/v1/admin/plugins/{name}/{version}',
  access: 'viewer',
  errors: ['ResourceNotFound'],
  input: closedObject(nameAndRange),
  output: closedObject({ plugin }),

  async handle({ db, caller }, wanted) {
    return { plugin: toPlugin(await requireVersion(db, 'plugins', { workspaceId: caller.workspaceId }, wanted)) }
  },
})
