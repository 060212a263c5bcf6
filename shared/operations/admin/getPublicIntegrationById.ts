import { closedObject } from '../../schema.ts'
import { noSuchIntegration } from '../../integrations/describe-integration.ts'
import { describePublic } from '../../integrations/public-integrations.ts'
import { publicIntegration } from '../../models/chat-integration.ts'
import { operation } from '../../rpc/operation.ts'

export const getPublicIntegrationById = operation({
  name: 'getPublicIntegrationById',
  description: 'Returns a version of a public integration in full.',
  method: 'GET',
  path: '/v1/admin/hub/integrations/{id}',
  access: 'viewer',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({ integration: publicIntegration }),

  async handle(context, { id }) {
    const found = await describePublic(context, id)
    if (!found) throw noSuchIntegration(id)
    return { integration: found }
  },
})
