import { closedObject } from '../../schema.ts'
import { pageInput, pageMeta } from '../../store/pagination.ts'
import { integrationSummary } from '../../models/integration.ts'
import { operation } from '../../rpc/operation.ts'

export const listPublicIntegrations = operation({
  name: 'listPublicIntegrations',
  description: 'Lists public integrations. The list is empty: each workspace has its own integrations.',
  method: 'GET',
  path: '/v1/admin/hub/integrations',
  access: 'viewer',
  input: closedObject({}, pageInput),
  output: closedObject({ integrations: { type: 'array', items: integrationSummary }, meta: pageMeta }),

  async handle() {
    return { integrations: [], meta: {} }
  },
})
