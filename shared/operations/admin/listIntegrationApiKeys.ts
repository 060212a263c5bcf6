import { closedObject } from '../../schema.ts'
import { apiKey, toApiKey } from '../../models/api-key.ts'
import { operation } from '../../rpc/operation.ts'
import { findIntegration } from '../../store/integrations.ts'
import { listTokens } from '../../store/tokens.ts'
import { noSuchIntegration } from '../../integrations/describe-integration.ts'

export const listIntegrationApiKeys = operation({
  name: 'listIntegrationApiKeys',
  description: 'Lists the tokens of an integration, newest first, without their values.',
  method: 'GET',
  path: '/v1/admin/integrations/iaks',
  access: 'developer',
  errors: ['ResourceNotFound'],
  input: closedObject({ integrationId: { type: 'string' } }),
  output: closedObject({ iaks: { type: 'array', items: apiKey } }),

  async handle({ db, caller }, { integrationId }) {
    if (!(await findIntegration(db, caller.workspaceId, integrationId))) throw noSuchIntegration(integrationId)
    return { iaks: (await listTokens(db, { integrationId })).map(toApiKey) }
  },
})
