import { operation } from '../../rpc/operation.ts'
import { dereference, dereferenceInput, dereferenceOutput } from './dereference.ts'

export const getDereferencedPlugin = operation({
  name: 'getDereferencedPlugin',
  description:
    'Returns a version of a plugin whose references to entities of interfaces are replaced by the entities of the ' +
    'integrations that implement the interfaces.',
  method: 'GET',
  path: '/v1/admin/plugins/{id}/dereferenced',
  access: 'viewer',
  errors: ['ResourceNotFound', 'ReferenceNotFound'],
  input: dereferenceInput,
  output: dereferenceOutput,

  handle: ({ db, caller: { workspaceId } }, input) => dereference(db, { workspaceId }, workspaceId, input),
})
