import { closedObject } from '../../schema.ts'
import { ApiError, foreignKeyViolation, postgresCode } from '../../errors.ts'
import { operation } from '../../rpc/operation.ts'
import { deleteIntegrationRow } from '../../store/integrations.ts'
import { listBotsWith } from '../../store/installations.ts'
import { isInstalledElsewhere } from '../../store/public-integrations.ts'
import { noSuchIntegration } from '../../integrations/describe-integration.ts'

export const deleteIntegration = operation({
  name: 'deleteIntegration',
  description: 'Deletes a version of an integration, and its tokens. No bot may have it installed.',
  method: 'DELETE',
  path: '/v1/admin/integrations/{id}',
  access: 'developer',
  errors: ['ResourceNotFound', 'ReferenceConstraint'],
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({}),

  async handle({ db, caller }, { id }) {
    try {
      if (!(await deleteIntegrationRow(db, caller.workspaceId, id))) throw noSuchIntegration(id)
    } catch (error) {
      if (postgresCode(error) !== foreignKeyViolation) throw error
      const bots = await listBotsWith(db, caller.workspaceId, id)
      const all = [
        ...bots,
        ...((await isInstalledElsewhere(db, caller.workspaceId, id)) ? ['bots of other workspaces'] : []),
      ]
      throw new ApiError('ReferenceConstraint', `Remove the integration first from ${all.join(', ')}`)
    }
    return {}
  },
})
