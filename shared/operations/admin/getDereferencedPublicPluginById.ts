import { operation } from '../../rpc/operation.ts'
import { dereference, dereferenceInput, dereferenceOutput } from './dereference.ts'

export const getDereferencedPublicPluginById = operation({
  name: 'getDereferencedPublicPluginById',
  description:
    'Returns a version of a public plugin whose references to entities of interfaces are replaced by the entities of the ' +
    'integrations that implement the interfaces.',
  method: 'GET',
  path: '/v1/admin/hub/plugins/{id}/dereferenced',
  access: 'viewer',
  errors: ['ResourceNotFound', 'ReferenceNotFound'],
  input: dereferenceInput,
  output: dereferenceOutput,

  handle: ({ db, caller: { workspaceId } }, input) => dereference(db, 'public', workspaceId, input),
})
