import { closedObject } from '../../schema.ts'
import { sortedPageRequest } from '../../store/listing.ts'
import { pageInput, pageMeta, toMeta } from '../../store/pagination.ts'
import { integrationDefinition, integrationSummary, toIntegrationSummary } from '../../models/integration.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfIntegrations } from '../../store/integrations.ts'

export const listIntegrations = operation({
  name: 'listIntegrations',
  description: 'Lists the versions of the workspace’s integrations, newest first unless sorted otherwise.',
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
      interfaceId: { type: 'string', description: 'Only those that implement the interface with this id.' },
      interfaceName: { type: 'string', description: 'Only those that implement an interface of this name.' },
      limit: { type: 'integer', minimum: 1, description: 'Has no effect: use `pageSize`.' },
      verificationStatus: { type: 'string', description: 'Every integration is `unapproved`.' },
      sortBy: {
        enum: ['popularity', 'name', 'createdAt', 'updatedAt', 'installCount'],
        description: 'Default: createdAt, which also replaces popularity, name and installCount.',
      },
      direction: { enum: ['asc', 'desc'], description: 'Default: desc, the newest first.' },
    },
  ),
  output: closedObject({ integrations: { type: 'array', items: integrationSummary }, meta: pageMeta }),

  async handle({ db, caller }, input) {
    const { sortBy, direction: sortDirection, verificationStatus } = input
    if (verificationStatus !== undefined && verificationStatus !== 'unapproved') return { integrations: [], meta: {} }
    const sortField = sortBy === 'updatedAt' ? 'updatedAt' : 'createdAt'
    const request = sortedPageRequest({ ...input, sortField, ...(sortDirection && { sortDirection }) })
    const page = await pageOfIntegrations(db, caller.workspaceId, input, request)
    return { integrations: page.rows.map(toIntegrationSummary), meta: toMeta(page) }
  },
})
