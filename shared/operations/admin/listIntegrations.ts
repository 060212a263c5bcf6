import { closedObject } from '../../schema.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'
import { integrationDefinition, integrationSummary, toIntegrationSummary } from '../../models/integration.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfIntegrations } from '../../store/integrations.ts'

export const listIntegrations = operation({
  name: 'listIntegrations',
  description: 'Lists the versions of the workspace’s integrations, newest first.',
  method: 'GET',
  path: '/v1/admin/integrations',
  access: 'viewer',
  input: closedObject(
    {},
    {
      ...pageInput,
      name: { type: 'string' },
      version: { type: 'string' },
      dev: { type: 'boolean' },
      visibility: integrationDefinition.visibility,
      search: {
        type: 'string',
        description: 'Text that the name, the title or the description contains; case-insensitive.',
      },
      installedByBotId: { type: 'string' },
    },
  ),
  output: closedObject({ integrations: { type: 'array', items: integrationSummary }, meta: pageMeta }),

  async handle({ db, caller }, input) {
    const page = await pageOfIntegrations(db, caller.workspaceId, input, pageRequest(input))
    return { integrations: page.rows.map(toIntegrationSummary), meta: toMeta(page) }
  },
})
