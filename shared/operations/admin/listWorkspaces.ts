import { closedObject } from '../../schema.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'
import { handle, toWorkspace, workspace } from '../../models/workspace.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfWorkspaces } from '../../store/workspaces.ts'

export const listWorkspaces = operation({
  name: 'listWorkspaces',
  description: 'Lists the workspaces of the token’s account, the oldest first. Needs no x-workspace-id.',
  method: 'GET',
  path: '/v1/admin/workspaces',
  access: 'account',
  input: closedObject({}, { ...pageInput, handle }),
  output: closedObject({ workspaces: { type: 'array', items: workspace }, meta: pageMeta }),

  async handle({ db, caller }, input) {
    const page = await pageOfWorkspaces(db, caller.accountId, input.handle, pageRequest(input))
    return { workspaces: page.rows.map(toWorkspace), meta: toMeta(page) }
  },
})
