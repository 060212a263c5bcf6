import { closedObject } from '../../schema.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'
import { auditRecord, toAuditRecord } from '../../models/audit-record.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfAuditRecords } from '../../store/audit.ts'
import { findOwnWorkspace } from './find-own-workspace.ts'

export const getAuditRecords = operation({
  name: 'getAuditRecords',
  description: 'Lists who changed what in the workspace, and which of its members their own account; newest first.',
  method: 'GET',
  path: '/v1/admin/workspaces/{id}/audit-records',
  access: 'administrator',
  errors: ['ResourceNotFound'],
  input: closedObject(
    { id: { type: 'string' } },
    {
      ...pageInput,
      userId: { type: 'string', description: 'What this account did.' },
      operation: { type: 'string', description: 'What was done by this operation.' },
      resourceId: { type: 'string', description: 'What was done to this.' },
    },
  ),
  output: closedObject({ records: { type: 'array', items: auditRecord }, meta: pageMeta }),

  async handle(context, { id, ...input }) {
    await findOwnWorkspace(context, id)
    const page = await pageOfAuditRecords(context.db, id, input, pageRequest(input))
    return { records: page.rows.map(toAuditRecord), meta: toMeta(page) }
  },
})
