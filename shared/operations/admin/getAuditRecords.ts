import { closedObject } from '../../schema.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'
import { auditRecord, toAuditRecord } from '../../models/audit-record.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfAuditRecords } from '../../store/audit.ts'
import { findOwnWorkspace } from './find-own-workspace.ts'

export const getAuditRecords = operation({
  name: 'getAuditRecords',
  description:
    'Lists the changes of the workspace, those of its members to their own accounts, and who read conversations; newest ' +
    'first. A page reads at most 10,000 records: with a filter that few pass, it may have few or none and still a nextToken.',
  method: 'GET',
  path: '/v1/admin/workspaces/{id}/audit-records',
  access: 'administrator',
  errors: ['ResourceNotFound'],
  input: closedObject(
    { id: { type: 'string' } },
    {
      ...pageInput,
      userId: { type: 'string', description: 'Only actions of this account.' },
      operation: { type: 'string', description: 'Only actions by this operation.' },
      resourceId: { type: 'string', description: 'Only actions on this resource.' },
    },
  ),
  output: closedObject({ records: { type: 'array', items: auditRecord }, meta: pageMeta }),

  async handle(context, { id, ...input }) {
    await findOwnWorkspace(context, id)
    const page = await pageOfAuditRecords(context.db, id, input, pageRequest(input))
    return { records: page.rows.map(toAuditRecord), meta: toMeta(page) }
  },
})
