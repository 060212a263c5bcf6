import { closedObject } from '../../schema.ts'
import { ApiError } from '../../errors.ts'
import { operation } from '../../rpc/operation.ts'
import { isInstalledElsewhere } from '../../store/public-integrations.ts'
import { transact } from '../../store/database.ts'
import { deleteWorkspaceRow, hasBots, lockForDeletion } from '../../store/workspaces.ts'
import { findOwnWorkspace } from './find-own-workspace.ts'

export const deleteWorkspace = operation({
  name: 'deleteWorkspace',
  description: 'Deletes a workspace without bots, and its integrations. Its audit records are kept.',
  method: 'DELETE',
  path: '/v1/admin/workspaces/{id}',
  access: 'owner',
  errors: ['ReferenceConstraint', 'ResourceNotFound'],
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({}),

  async handle(context, { id }) {
    await findOwnWorkspace(context, id)
    await transact(context.db, async (transaction) => {
      await lockForDeletion(transaction, id)
      if (await hasBots(transaction, id)) {
        throw new ApiError(
          'ReferenceConstraint',
          'The workspace has bots: delete them first, including those in development',
        )
      }
      if (await isInstalledElsewhere(transaction, id)) {
        throw new ApiError('ReferenceConstraint', 'Bots of other workspaces have integrations of this one installed')
      }
      await deleteWorkspaceRow(transaction, id)
    })
    return {}
  },
})
