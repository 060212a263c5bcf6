import { closedObject } from '../../schema.ts'
import { cannedReply, toCannedReply } from '../../models/canned-reply.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfCannedReplies } from '../../store/canned-replies.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'

export const listCannedReplies = operation({
  name: 'listCannedReplies',
  description: 'Lists the canned replies of the workspace, the newest first.',
  method: 'GET',
  path: '/v1/admin/canned-replies',
  access: 'agent',
  stability: 'experimental',
  input: closedObject({}, pageInput),
  output: closedObject({ cannedReplies: { type: 'array', items: cannedReply }, meta: pageMeta }),

  async handle({ db, caller }, paging) {
    const found = await pageOfCannedReplies(db, caller.workspaceId, pageRequest(paging))
    return { cannedReplies: found.rows.map(toCannedReply), meta: toMeta(found) }
  },
})
