import { closedObject } from '../../schema.ts'
import { issue } from '../../models/issue.ts'
import { operation } from '../../rpc/operation.ts'
import { encodeCursor, pageInput, pageMeta, pageRequest } from '../../store/pagination.ts'
import { findIssues, toIssue } from './find-issues.ts'
import { findOwnBot } from './find-version.ts'

export const listBotIssues = operation({
  name: 'listBotIssues',
  description:
    'Lists the issues of a bot, the one that was last seen first: the last 5,000 events that failed finally, grouped by ' +
    'their failure.',
  method: 'GET',
  path: '/v1/admin/bots/{id}/issues',
  access: 'viewer',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' } }, pageInput),
  output: closedObject({ issues: { type: 'array', items: issue }, meta: pageMeta }),

  async handle(context, { id, ...input }) {
    await findOwnBot(context, id)
    const { limit, after } = pageRequest(input)
    const issues = (await findIssues(context, id)).map((found) => ({ ...toIssue(found), at: found.group.lastAt }))
    // An issue that was seen again since, or is dismissed, is no longer at its position.
    const position = issues.findIndex(({ id, at }) => id === after?.id && at.getTime() === after.createdAt.getTime())
    const left = after && position === -1 ? issues.filter(({ at }) => at < after.createdAt) : issues.slice(position + 1)
    const page = left.slice(0, limit)
    const last = page.at(-1)
    const nextToken = last && left.length > limit ? encodeCursor({ createdAt: last.at, id: last.id }) : undefined
    return { issues: page.map(({ at: _at, ...shown }) => shown), meta: nextToken === undefined ? {} : { nextToken } }
  },
})
