import type { FailureRow } from './error-groups.ts'
import { query, type Database } from './database.ts'

/** A failed event, with what an issue shows of it. */
export interface IssueRow extends FailureRow {
  /** The exceeded limit, or `error`; null when no code ran. */
  kind: string | null
  conversation_id: string | null
  user_id: string | null
}

/** The events of a bot that failed finally, the latest failure first. */
export async function lastFailures(db: Database, botId: string, limit: number): Promise<IssueRow[]> {
  return query<IssueRow>(
    db,
    `select id, type, failure_reason, ended_at, conversation_id, user_id, runs #>> '{-1,error,reason}' as kind,
       runs #>> '{-1,error,hook}' as hook, runs #>> '{-1,version}' as version_id
     from events
     where bot_id = :botId and status = 'failed'
     order by ended_at desc, id desc limit :limit`,
    { botId, limit },
  )
}

/** Upper bound of dismissals that are kept of a bot, the newest ones. */
const maxDismissals = 1000

/** The times up to which failures are dismissed, by the id of their issue. */
export async function dismissals(db: Database, botId: string): Promise<Map<string, Date>> {
  const rows = await db('dismissed_issues').where({ bot_id: botId }).select('issue_id', 'dismissed_at')
  return new Map(rows.map((row) => [row.issue_id, row.dismissed_at]))
}

/** Dismisses the failures of an issue up to now. */
export async function dismissIssue(db: Database, botId: string, issueId: string): Promise<void> {
  await query(
    db,
    `with dismissed as (
       insert into dismissed_issues (bot_id, issue_id) values (:botId, :issueId)
       on conflict (bot_id, issue_id) do update set dismissed_at = clock_timestamp()
     )
     delete from dismissed_issues where bot_id = :botId and issue_id in (
       select issue_id from dismissed_issues
       where bot_id = :botId and issue_id <> :issueId order by dismissed_at desc offset ${maxDismissals - 1}
     )`,
    { botId, issueId },
  )
}
