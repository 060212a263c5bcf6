import { closedObject } from '../../schema.ts'
import { issue } from '../../models/issue.ts'
import { operation } from '../../rpc/operation.ts'
import { findIssue, toIssue } from './find-issues.ts'
import { findOwnBot } from './find-version.ts'

export const getBotIssue = operation({
  name: 'getBotIssue',
  description: 'Returns an issue of a bot.',
  method: 'GET',
  path: '/v1/admin/bots/{id}/issues/{issueId}',
  access: 'viewer',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' }, issueId: { type: 'string' } }),
  output: closedObject({ issue }),

  async handle(context, { id, issueId }) {
    await findOwnBot(context, id)
    return { issue: toIssue(await findIssue(context, id, issueId)) }
  },
})
