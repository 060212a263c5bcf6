import { notFound, type ApiError } from '../../errors.ts'
import { closedObject } from '../../schema.ts'
import { operation } from '../../rpc/operation.ts'
import { deleteCannedReply as deleteInStore } from '../../store/canned-replies.ts'

export const deleteCannedReply = operation({
  name: 'deleteCannedReply',
  description: 'Deletes a canned reply of the workspace.',
  method: 'DELETE',
  path: '/v1/admin/canned-replies/{id}',
  access: 'agent',
  stability: 'experimental',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({}),

  async handle({ db, caller }, { id }) {
    if (!(await deleteInStore(db, { workspaceId: caller.workspaceId, id }))) throw noCannedReply(id)
    return {}
  },
})

export function noCannedReply(id: string): ApiError {
  return notFound(`Canned reply '${id}'`)
}
