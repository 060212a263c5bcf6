import { closedObject } from '../../schema.ts'
import { pluginSummary, toPluginSummary } from '../../models/plugin.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfEntries } from '../../store/catalogue.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'

export const listPlugins = operation({
  name: 'listPlugins',
  description: 'Lists the versions of the workspace’s plugins, newest first.',
  method: 'GET',
  path: '/v1/admin/plugins',
  access: 'viewer',
  input: closedObject({}, { ...pageInput, name: { type: 'string' }, version: { type: 'string' } }),
  output: closedObject({ plugins: { type: 'array', items: pluginSummary }, meta: pageMeta }),

  async handle({ db, caller }, input) {
    const page = await pageOfEntries(db, 'plugins', { workspaceId: caller.workspaceId }, input, pageRequest(input))
    return { plugins: page.rows.map(toPluginSummary), meta: toMeta(page) }
  },
})
