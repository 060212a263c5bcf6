import { closedObject } from '../../schema.ts'
import { notFound } from '../../errors.ts'
import { publicWorkspace, toPublicWorkspace } from '../../models/workspace.ts'
import { operation } from '../../rpc/operation.ts'
import { findWorkspace } from '../../store/workspaces.ts'

export const getPublicWorkspace = operation({
  name: 'getPublicWorkspace',
  description: 'Returns the profile of a workspace that is public, to holders of any personal token.',
  method: 'GET',
  path: '/v1/admin/workspaces/{id}/public',
  access: 'account',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' } }),
  output: publicWorkspace,

  async handle({ db }, { id }) {
    const row = await findWorkspace(db, id)
    if (!row?.profile.isPublic) throw notFound(`Public workspace '${id}'`)
    return toPublicWorkspace(row)
  },
})
