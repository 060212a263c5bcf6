import { closedObject } from '../../schema.ts'
import { operation } from '../../rpc/operation.ts'
import { deleteMember } from '../../store/members.ts'
import { assertOwnerRemains, changeMembers, findChangeable } from './change-member.ts'

export const deleteWorkspaceMember = operation({
  name: 'deleteWorkspaceMember',
  description: 'Removes a member whose role is not above the caller’s own. Tokens of bots and integrations stay valid.',
  method: 'DELETE',
  path: '/v1/admin/workspace-members/{id}',
  access: 'administrator',
  errors: ['ReferenceConstraint', 'ResourceNotFound'],
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({}),

  async handle(context, { id }) {
    await changeMembers(context, async (transaction, caller) => {
      await assertOwnerRemains(transaction, caller, await findChangeable(transaction, caller, id))
      await deleteMember(transaction, caller.workspaceId, id)
    })
    return {}
  },
})
