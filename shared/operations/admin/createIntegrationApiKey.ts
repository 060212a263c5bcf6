import { closedObject } from '../../schema.ts'
import { newId, newToken } from '../../ids.ts'
import { apiKey, toApiKey } from '../../models/api-key.ts'
import { operation } from '../../rpc/operation.ts'
import { hashToken } from '../../secrets.ts'
import { findIntegration } from '../../store/integrations.ts'
import { insertToken } from '../../store/tokens.ts'
import { noSuchIntegration } from '../../integrations/describe-integration.ts'

export const createIntegrationApiKey = operation({
  name: 'createIntegrationApiKey',
  description:
    'Creates a token that acts as an integration on the bots that have it installed. Only this answer contains its value.',
  method: 'POST',
  path: '/v1/admin/integrations/iaks',
  access: 'developer',
  errors: ['ResourceNotFound', 'LimitExceeded'],
  auditedFields: ['integrationId', 'note'],
  input: closedObject({ integrationId: { type: 'string' } }, { note: apiKey.properties.note }),
  output: closedObject({ ...apiKey.properties, value: { type: 'string' } }),

  async handle({ db, caller }, { integrationId, note = '' }) {
    if (!(await findIntegration(db, caller.workspaceId, integrationId))) throw noSuchIntegration(integrationId)
    const value = newToken('iak')
    const row = await insertToken(db, { id: newId('iak'), hash: hashToken(value), note }, { integrationId })
    return { ...toApiKey(row), value }
  },
})
