import { closedObject } from '../../schema.ts'
import { ApiError, postgresCode, uniqueViolation } from '../../errors.ts'
import { toWorkspace, workspace, workspaceFields } from '../../models/workspace.ts'
import { operation } from '../../rpc/operation.ts'
import { updateWorkspaceFields } from '../../store/workspaces.ts'
import { findOwnWorkspace } from './find-own-workspace.ts'

export const updateWorkspace = operation({
  name: 'updateWorkspace',
  description: 'Changes the name, the handle and the profile of a workspace.',
  method: 'PUT',
  path: '/v1/admin/workspaces/{id}',
  access: 'administrator',
  errors: ['AlreadyExists', 'ResourceNotFound'],
  auditedFields: ['name', 'handle'],
  input: closedObject({ id: { type: 'string' } }, { ...workspaceFields }),
  output: workspace,

  async handle(context, { id, name, handle, ...profile }) {
    await findOwnWorkspace(context, id)
    try {
      await updateWorkspaceFields(context.db, id, { name, handle, profile })
    } catch (error) {
      if (postgresCode(error) !== uniqueViolation) throw error
      throw new ApiError('AlreadyExists', `Another workspace has the handle '${handle}': choose another`)
    }
    return toWorkspace(await findOwnWorkspace(context, id))
  },
})
