import { closedObject } from '../../schema.ts'
import { pluginSummary, toPluginSummary } from '../../models/plugin.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfEntries } from '../../store/catalogue.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'

export const listPublicPlugins = operation({
  name: 'listPublicPlugins',
  description: 'Lists the versions of public plugins, newest first.',
  method: 'GET',
  path: '/v1/admin/hub/plugins',
  access: 'viewer',
  input: closedObject({}, { ...pageInput, name: { type: 'string' }, version: { type: 'string' } }),
  output: closedObject({ plugins: { type: 'array', items: pluginSummary }, meta: pageMeta }),

  async handle({ db }, input) {
    const page = await pageOfEntries(db, 'plugins', 'public', input, pageRequest(input))
    return { plugins: page.rows.map(toPluginSummary), meta: toMeta(page) }
  },
})
