import { closedObject } from '../../schema.ts'
import { operation } from '../../rpc/operation.ts'
import { dismissIssue } from '../../store/issues.ts'
import { findIssue } from './find-issues.ts'
import { findOwnBot } from './find-version.ts'

export const deleteBotIssue = operation({
  name: 'deleteBotIssue',
  description: 'Dismisses an issue: it appears again with the next such failure. The failed events are kept.',
  method: 'DELETE',
  path: '/v1/admin/bots/{id}/issues/{issueId}',
  access: 'developer',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' }, issueId: { type: 'string' } }),
  output: closedObject({}),

  async handle(context, { id, issueId }) {
    await findOwnBot(context, id)
    await findIssue(context, id, issueId)
    await dismissIssue(context.db, id, issueId)
    return {}
  },
})
