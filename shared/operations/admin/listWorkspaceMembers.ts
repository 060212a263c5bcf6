import { closedObject } from '../../schema.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'
import { member, toMember } from '../../models/member.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfMembers } from '../../store/members.ts'

export const listWorkspaceMembers = operation({
  name: 'listWorkspaceMembers',
  description: 'Lists the members of the workspace with their roles, the newest first.',
  method: 'GET',
  path: '/v1/admin/workspace-members',
  access: 'member',
  input: closedObject({}, pageInput),
  output: closedObject({ members: { type: 'array', items: member }, meta: pageMeta }),

  async handle({ db, caller }, input) {
    const page = await pageOfMembers(db, caller.workspaceId, pageRequest(input))
    return { members: page.rows.map(toMember), meta: toMeta(page) }
  },
})
