import { closedObject } from '../../schema.ts'
import { dataRequest, toDataRequest } from '../../models/data-request.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfDataRequests } from '../../store/data-requests.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'

export const listDataRequests = operation({
  name: 'listDataRequests',
  description: 'Lists the erasures of the workspace, the newest first. They do not say who was erased.',
  method: 'GET',
  path: '/v1/admin/data-requests',
  access: 'administrator',
  stability: 'experimental',
  input: closedObject({}, pageInput),
  output: closedObject({ dataRequests: { type: 'array', items: dataRequest }, meta: pageMeta }),

  async handle({ db, caller }, input) {
    const found = await pageOfDataRequests(db, caller.workspaceId, pageRequest(input))
    return { dataRequests: found.rows.map(toDataRequest), meta: toMeta(found) }
  },
})
