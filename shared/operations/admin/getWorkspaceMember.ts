import { closedObject } from '../../schema.ts'
import { notFound } from '../../errors.ts'
import { member, toMember } from '../../models/member.ts'
import { operation } from '../../rpc/operation.ts'
import { findMember } from '../../store/members.ts'

export const getWorkspaceMember = operation({
  name: 'getWorkspaceMember',
  description: 'Returns the caller’s membership of the workspace, with the role.',
  method: 'GET',
  path: '/v1/admin/workspace-members/me',
  access: 'member',
  errors: ['ResourceNotFound'],
  input: closedObject({}),
  output: member,

  async handle({ db, caller }) {
    const row = await findMember(db, caller.workspaceId, caller.accountId)
    if (!row) throw notFound('Member', 'you are no longer a member of the workspace')
    return toMember(row)
  },
})
