import { closedObject } from '../../schema.ts'
import { includesRole, member, role, toMember } from '../../models/member.ts'
import { operation } from '../../rpc/operation.ts'
import { releaseHandovers } from '../../store/handovers.ts'
import { setRole } from '../../store/members.ts'
import { assertNotAbove, assertOwnerRemains, changeMembers, findChangeable } from './change-member.ts'

export const updateWorkspaceMember = operation({
  name: 'updateWorkspaceMember',
  description: 'Changes the role of a member. Neither the former nor the new role may be above the caller’s own.',
  method: 'PUT',
  path: '/v1/admin/workspace-members/{id}',
  access: 'administrator',
  errors: ['ReferenceConstraint', 'ResourceNotFound'],
  auditedFields: ['role'],
  input: closedObject({ id: { type: 'string' } }, { role }),
  output: member,

  async handle(context, { id, role: wanted }) {
    return changeMembers(context, async (transaction, caller) => {
      const present = await findChangeable(transaction, caller, id)
      if (wanted === undefined) return toMember(present)
      assertNotAbove(caller, wanted)
      if (wanted !== 'owner') await assertOwnerRemains(transaction, caller, present)
      await setRole(transaction, caller.workspaceId, id, wanted)
      if (!includesRole(wanted, 'agent')) await releaseHandovers(transaction, id, caller.workspaceId)
      return toMember({ ...present, role: wanted })
    })
  },
})
