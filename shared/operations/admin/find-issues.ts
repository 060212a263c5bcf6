import { describeFailures, groupFailures, type ErrorGroup } from '../../code/error-groups.ts'
import { oldestReplayable } from '../../code/failed-events.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../errors.ts'
import type { issue, issueEvent } from '../../models/issue.ts'
import type { Infer } from '../../schema.ts'
import { dismissals, lastFailures, type IssueRow } from '../../store/issues.ts'

/** Maximum number of failed events that are read, and of events in an answer. */
const maxScanned = 5000
const maxEvents = 100

/** Failures with the same cause: the issue, and its failures, the latest first. */
export interface FoundIssue {
  group: ErrorGroup
  rows: IssueRow[]
}

/** The issues of a bot, the one that was last seen first: groups of its last failures that are not dismissed. */
export async function findIssues({ db, config }: Context, botId: string): Promise<FoundIssue[]> {
  const [rows, dismissed] = [await lastFailures(db, botId, maxScanned), await dismissals(db, botId)]
  // Groups are in the order of their first row, which is the last failure.
  return (await groupFailures(rows)).flatMap((same) => {
    const until = dismissed.get(same.id)
    const own = until ? same.rows.filter((row) => row.ended_at > until) : same.rows
    if (own.length === 0) return []
    return [{ group: describeFailures({ ...same, rows: own }, oldestReplayable(config)), rows: own }]
  })
}

/** @throws ApiError `ResourceNotFound` */
export async function findIssue(context: Context, botId: string, issueId: string): Promise<FoundIssue> {
  const found = (await findIssues(context, botId)).find(({ group }) => group.id === issueId)
  if (!found) throw notFound(`Issue '${issueId}'`, 'it is dismissed, or its failures are too old')
  return found
}

export function toIssue({ group, rows }: FoundIssue): Infer<typeof issue> {
  const code = rows[0]!.kind ?? 'error'
  return {
    id: group.id,
    code,
    createdAt: group.firstAt.toISOString(),
    lastSeenAt: group.lastAt.toISOString(),
    title: group.message,
    description: group.example,
    groupedData: dataOf({ message: group.message, hook: group.hook }),
    eventsCount: group.count,
    category: code === 'error' ? 'user_code' : 'limits',
    resolutionLink: null,
  }
}

export function toIssueEvents({ rows }: FoundIssue): Infer<typeof issueEvent>[] {
  return rows.slice(0, maxEvents).map((row) => ({
    id: row.id,
    createdAt: row.ended_at.toISOString(),
    data: dataOf({
      reason: row.failure_reason,
      type: row.type,
      conversationId: row.conversation_id,
      userId: row.user_id,
      versionId: row.version_id,
    }),
  }))
}

function dataOf(fields: Record<string, string | null>): Record<string, { raw: string }> {
  return Object.fromEntries(Object.entries(fields).flatMap(([name, raw]) => (raw === null ? [] : [[name, { raw }]])))
}
