import { closedObject } from '../../schema.ts'
import { mergePatch } from '../../code/merge-patch.ts'
import { postgresCode, uniqueViolation } from '../../errors.ts'
import { newId } from '../../ids.ts'
import { assertPublishable, requireEntry, versionExists } from '../../integrations/catalogue.ts'
import { acceptPluginSchemas } from '../../integrations/plugins.ts'
import { integrationName } from '../../models/integration.ts'
import { plugin, pluginCode, pluginDefinitionSchema, pluginFields, toPlugin } from '../../models/plugin.ts'
import { operation } from '../../rpc/operation.ts'
import { insertPlugin } from '../../store/catalogue.ts'
import { assertName } from './assert-name.ts'

export const createPlugin = operation({
  name: 'createPlugin',
  description: 'Creates one version of a plugin, whose code becomes part of the bundles of bots.',
  method: 'POST',
  path: '/v1/admin/plugins',
  access: 'developer',
  errors: ['AlreadyExists', 'InvalidJsonSchema', 'LimitExceeded'],
  auditedFields: ['name', 'version'],
  input: closedObject({ ...integrationName, code: pluginCode }, pluginFields),
  output: closedObject({ plugin }),

  async handle({ db, caller }, { name, version, code, public: isPublic = false, visibility, ...change }) {
    const { workspaceId } = caller
    assertName(name, version)
    const definition = mergePatch(pluginDefinitionSchema, {}, change)
    acceptPluginSchemas(change)
    const seen = visibility ?? (isPublic ? 'public' : 'private')
    if (seen !== 'private') await assertPublishable(db, 'plugins', workspaceId, name)
    const id = newId('pluginver')
    try {
      await insertPlugin(db, {
        id,
        workspace_id: workspaceId,
        name,
        version,
        visibility: seen,
        definition,
        node_code: code.node,
        browser_code: code.browser,
      })
    } catch (error) {
      throw postgresCode(error) === uniqueViolation ? versionExists('plugins', name, version) : error
    }
    return { plugin: toPlugin(await requireEntry(db, 'plugins', { workspaceId }, id)) }
  },
})
