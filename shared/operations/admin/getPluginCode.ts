import { closedObject } from '../../schema.ts'
import { noSuchEntry } from '../../integrations/catalogue.ts'
import { operation } from '../../rpc/operation.ts'
import { findPluginCode } from '../../store/catalogue.ts'

export const getPluginCode = operation({
  name: 'getPluginCode',
  description: 'Returns the code of a version of a plugin, which becomes part of the bundles of bots.',
  method: 'GET',
  path: '/v1/admin/plugins/{id}/code/{platform}',
  access: 'developer',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' }, platform: { enum: ['node', 'browser'] } }),
  output: closedObject({ code: { type: 'string' } }),

  async handle({ db, caller }, { id, platform }) {
    const code = await findPluginCode(db, { workspaceId: caller.workspaceId }, id, platform)
    if (code === undefined) throw noSuchEntry('plugins', id)
    return { code }
  },
})
