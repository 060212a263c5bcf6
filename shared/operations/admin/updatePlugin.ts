import { closedObject } from '../../schema.ts'
import { mergePatch } from '../../code/merge-patch.ts'
import { assertPublishable, noSuchEntry, requireEntry } from '../../integrations/catalogue.ts'
import { acceptPluginSchemas } from '../../integrations/plugins.ts'
import { plugin, pluginCode, pluginDefinitionSchema, pluginFields, toPlugin } from '../../models/plugin.ts'
import { operation } from '../../rpc/operation.ts'
import { lockEntry, updateEntry } from '../../store/catalogue.ts'
import { transact } from '../../store/database.ts'

export const updatePlugin = operation({
  name: 'updatePlugin',
  description:
    'Changes a version of a plugin. Maps are merged; null removes an entry. Bots keep the code in their bundles.',
  method: 'PUT',
  path: '/v1/admin/plugins/{id}',
  access: 'developer',
  errors: ['ResourceNotFound', 'AlreadyExists', 'InvalidJsonSchema', 'LimitExceeded'],
  input: closedObject({ id: { type: 'string' } }, { ...pluginFields, code: pluginCode }),
  output: closedObject({ plugin }),

  async handle({ db, caller }, { id, code, public: isPublic, visibility, ...change }) {
    const { workspaceId } = caller
    const { definition: present } = await requireEntry(db, 'plugins', { workspaceId }, id)
    // Refuses a definition that is too long before its schemas are examined.
    mergePatch(pluginDefinitionSchema, present, change)
    acceptPluginSchemas(change)
    const seen = visibility ?? (isPublic === undefined ? undefined : isPublic ? 'public' : 'private')
    await transact(db, async (transaction) => {
      const row = await lockEntry(transaction, 'plugins', workspaceId, id)
      if (!row) throw noSuchEntry('plugins', id)
      if (seen && seen !== 'private') await assertPublishable(transaction, 'plugins', workspaceId, row.name)
      await updateEntry(transaction, 'plugins', id, {
        definition: mergePatch(pluginDefinitionSchema, row.definition, change),
        ...(seen && { visibility: seen }),
        ...(code && { node_code: code.node, browser_code: code.browser }),
      })
    })
    return { plugin: toPlugin(await requireEntry(db, 'plugins', { workspaceId }, id)) }
  },
})
