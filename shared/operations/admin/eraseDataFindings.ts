import { closedObject } from '../../schema.ts'
import { ApiError } from '../../errors.ts'
import { dataRequest, toDataRequest } from '../../models/data-request.ts'
import { operation } from '../../rpc/operation.ts'
import { beginErasingFindings } from '../../store/data-requests.ts'
import { transact } from '../../store/database.ts'
import { lockWorkspace } from '../../store/workspaces.ts'
import { findOwnDataRequest } from './find-data-request.ts'

export const eraseDataFindings = operation({
  name: 'eraseDataFindings',
  description:
    'Has workers erase all findings of a completed erasure: rows of tables, states, events, log lines, files and messages ' +
    'are deleted, and users and conversations lose the tags and fields that name the person.',
  method: 'POST',
  path: '/v1/admin/data-requests/{id}/findings/erase',
  access: 'administrator',
  stability: 'experimental',
  errors: ['ResourceNotFound', 'ResourceLockedConflict'],
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({ dataRequest }),

  async handle(context, { id }) {
    const { db, caller } = context
    await findOwnDataRequest(context, id)
    const begins = await transact(db, async (transaction) => {
      // No bot leaves the workspace between the check of a transfer and this request.
      await lockWorkspace(transaction, caller.workspaceId)
      return beginErasingFindings(transaction, id)
    })
    if (!begins) {
      throw new ApiError(
        'ResourceLockedConflict',
        'The erasure is in progress, or has failed: its findings are not complete',
      )
    }
    return { dataRequest: toDataRequest(await findOwnDataRequest(context, id)) }
  },
})
