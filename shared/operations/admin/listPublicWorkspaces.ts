import { closedObject } from '../../schema.ts'
import { publicWorkspace, toPublicWorkspace } from '../../models/workspace.ts'
import { operation } from '../../rpc/operation.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'
import { pageOfPublicWorkspaces } from '../../store/workspaces.ts'

export const listPublicWorkspaces = operation({
  name: 'listPublicWorkspaces',
  description:
    'Lists the profiles of the workspaces that are public, the oldest first, to holders of any personal token.',
  method: 'GET',
  path: '/v1/admin/workspaces/public',
  access: 'account',
  input: closedObject(
    {},
    {
      ...pageInput,
      workspaceIds: { type: 'array', maxItems: 100, items: { type: 'string' } },
      search: { type: 'string', description: 'Part of the name or the handle; case-insensitive.' },
    },
  ),
  output: closedObject({ workspaces: { type: 'array', items: publicWorkspace }, meta: pageMeta }),

  async handle({ db }, input) {
    const page = await pageOfPublicWorkspaces(db, input, pageRequest(input))
    return { workspaces: page.rows.map(toPublicWorkspace), meta: toMeta(page) }
  },
})
