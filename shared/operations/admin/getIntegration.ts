import { closedObject } from '../../schema.ts'
import { integration } from '../../models/integration.ts'
import { operation } from '../../rpc/operation.ts'
import { describeIntegration } from '../../integrations/describe-integration.ts'

export const getIntegration = operation({
  name: 'getIntegration',
  description: 'Returns a version of an integration in full.',
  method: 'GET',
  path: '/v1/admin/integrations/{id}',
  access: 'viewer',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({ integration }),

  async handle(context, { id }) {
    return { integration: await describeIntegration(context, id) }
  },
})
