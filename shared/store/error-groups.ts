import { query, type Database } from './database.ts'

/** The columns of a failed event that identify its error. */
export interface FailureRow {
  id: string
  type: string
  failure_reason: string | null
  ended_at: Date
  hook: string | null
  version_id: string | null
}

/** A bot's events that failed finally since a time, the latest failure first. */
export async function failuresSince(db: Database, botId: string, from: Date, limit: number): Promise<FailureRow[]> {
  return query<FailureRow>(
    db,
    `select id, type, failure_reason, ended_at, runs #>> '{-1,error,hook}' as hook, runs #>> '{-1,version}' as version_id
     from events
     where bot_id = :botId and status = 'failed' and ended_at >= :from
     order by ended_at desc, id desc limit :limit`,
    { botId, from, limit },
  )
}
