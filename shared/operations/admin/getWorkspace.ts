import { toWorkspace, workspace } from '../../models/workspace.ts'
import { operation } from '../../rpc/operation.ts'
import { findOwnWorkspace } from './find-own-workspace.ts'

export const getWorkspace = operation({
  name: 'getWorkspace',
  description: 'Gives the workspace.',
  method: 'GET',
  path: '/v1/admin/workspaces/{id}',
  access: 'viewer',
  errors: ['ResourceNotFound'],
  input: { type: 'object', additionalProperties: false, required: ['id'], properties: { id: { type: 'string' } } },
  output: workspace,

  async handle(context, { id }) {
    return toWorkspace(await findOwnWorkspace(context, id))
  },
})
