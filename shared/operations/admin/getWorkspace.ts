import { closedObject } from '../../schema.ts'
import { toWorkspace, workspace } from '../../models/workspace.ts'
import { operation } from '../../rpc/operation.ts'
import { findOwnWorkspace } from './find-own-workspace.ts'

export const getWorkspace = operation({
  name: 'getWorkspace',
  description: 'Returns the workspace.',
  method: 'GET',
  path: '/v1/admin/workspaces/{id}',
  access: 'member',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' } }),
  output: workspace,

  async handle(context, { id }) {
    return toWorkspace(await findOwnWorkspace(context, id))
  },
})
