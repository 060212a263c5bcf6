import { closedObject } from '../../schema.ts'
import { ApiError } from '../../errors.ts'
import { dataFinding, toDataFinding } from '../../models/data-request.ts'
import { operation } from '../../rpc/operation.ts'
import { listFindings } from '../../store/data-requests.ts'
import { pageInput, pageMeta, pageSizeOf } from '../../store/pagination.ts'
import { findOwnDataRequest } from './find-data-request.ts'

export const listDataFindings = operation({
  name: 'listDataFindings',
  description:
    'Lists the rows that name the person of an erasure and that a person has to decide about: their addresses, without ' +
    'contents. Erase those that remain with eraseDataFindings.',
  method: 'GET',
  path: '/v1/admin/data-requests/{id}/findings',
  access: 'administrator',
  stability: 'experimental',
  errors: ['ResourceNotFound', 'InvalidQuery'],
  input: closedObject({ id: { type: 'string' } }, pageInput),
  output: closedObject({ findings: { type: 'array', items: dataFinding }, meta: pageMeta }),

  async handle(context, { id, nextToken, ...input }) {
    await findOwnDataRequest(context, id)
    const size = pageSizeOf(input)
    const after = nextToken === undefined ? undefined : Buffer.from(nextToken, 'base64url').toString()
    if (after?.includes('\u0000')) throw new ApiError('InvalidQuery', '`nextToken` is not one of this list')
    const rows = await listFindings(context.db, id, { after, limit: size + 1 })
    const last = rows.length > size ? rows[size - 1] : undefined
    return {
      findings: rows.slice(0, size).map(toDataFinding),
      meta: last ? { nextToken: Buffer.from(last.id).toString('base64url') } : {},
    }
  },
})
