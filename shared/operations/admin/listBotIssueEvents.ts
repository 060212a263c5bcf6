import { closedObject } from '../../schema.ts'
import { issueEvent } from '../../models/issue.ts'
import { operation } from '../../rpc/operation.ts'
import { findIssue, toIssueEvents } from './find-issues.ts'
import { findOwnBot } from './find-version.ts'

export const listBotIssueEvents = operation({
  name: 'listBotIssueEvents',
  description: 'Lists the last 100 failures of an issue, the last one first.',
  method: 'GET',
  path: '/v1/admin/bots/{id}/issues/{issueId}/events',
  access: 'viewer',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' }, issueId: { type: 'string' } }),
  output: closedObject({ issueEvents: { type: 'array', items: issueEvent } }),

  async handle(context, { id, issueId }) {
    await findOwnBot(context, id)
    return { issueEvents: toIssueEvents(await findIssue(context, id, issueId)) }
  },
})
