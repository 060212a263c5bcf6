import { integration } from '../../models/integration.ts'
import { operation } from '../../rpc/operation.ts'
import { describeIntegration } from '../../integrations/describe-integration.ts'

export const getIntegration = operation({
  name: 'getIntegration',
  description: 'Gives a version of an integration in full.',
  method: 'GET',
  path: '/v1/admin/integrations/{id}',
  access: 'viewer',
  errors: ['ResourceNotFound'],
  input: { type: 'object', additionalProperties: false, required: ['id'], properties: { id: { type: 'string' } } },
  output: { type: 'object', additionalProperties: false, required: ['integration'], properties: { integration } },

  async handle(context, { id }) {
    return { integration: await describeIntegration(context, id) }
  },
})
