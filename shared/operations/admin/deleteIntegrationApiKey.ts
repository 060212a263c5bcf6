import { closedObject } from '../../schema.ts'
import { notFound } from '../../errors.ts'
import { operation } from '../../rpc/operation.ts'
import { deleteToken } from '../../store/tokens.ts'

export const deleteIntegrationApiKey = operation({
  name: 'deleteIntegrationApiKey',
  description: 'Deletes a token of an integration. The token becomes invalid at once.',
  method: 'DELETE',
  path: '/v1/admin/integrations/iaks/{id}',
  access: 'developer',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({}),

  async handle({ db, caller }, { id }) {
    if (await deleteToken(db, caller.workspaceId, 'integration', id)) return {}
    throw notFound(`Integration token '${id}'`)
  },
})
