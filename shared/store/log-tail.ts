import { query, type Database } from './database.ts'
import { seenAt } from './log-snapshot.ts'
import type { DescribedLogRow } from '../models/log-line.ts'

/**
 * Following a bot's log. Lines are numbered in the order in which they were begun to be stored, and may be seen in
 * another one: a statement that takes long stores lines before the numbers of others that are seen already. So a place in
 * the log is what could be seen at a moment, a snapshot as PostgreSQL has them. A look tells what it could not see.
 */
export interface LogPosition {
  snapshot: string
  /** About where lines had come by then. */
  id: string
}

/** Which of the new lines. */
export interface LogTailFilter {
  levels?: string[] | undefined
  eventId?: string | undefined
  conversationId?: string | undefined
  words?: string | undefined
}

/** So many lines of all bots may be begun while one that was begun before them is not stored yet. */
const overtaken = 2000
/** Lines of all bots that one look goes over: who comes back after long misses those before them. */
const maxScanned = 20_000

/** Where a log is now. */
export async function logPosition(db: Database): Promise<LogPosition> {
  const [row] = await query<LogPosition>(
    db,
    `select pg_current_snapshot()::text as snapshot, coalesce(max(id), 0)::text as id from logs`,
    {},
  )
  return row!
}

export interface LogTail {
  /** The last ones, oldest first. */
  rows: DescribedLogRow[]
  place: LogPosition
  /** Whether older ones were left out. */
  isCut: boolean
}

/** The lines of a bot that were stored since a place. */
export async function readLogTail(
  db: Database,
  botId: string,
  { levels, eventId, conversationId, words }: LogTailFilter,
  { after, limit }: { after: LogPosition; limit: number },
): Promise<LogTail> {
  const conditions = [
    levels && 'logs.level = any(:levels::text[])',
    eventId !== undefined && 'logs.event_id = :eventId',
    conversationId !== undefined && 'logs.conversation_id = :conversationId',
    words !== undefined && 'strpos(lower(logs.message), lower(:words)) > 0',
  ].filter(Boolean)
  type Row = DescribedLogRow & { snapshot: string; last: string; is_far: boolean }
  const rows = await query<Row | { [Column in keyof Row]: Row[Column] | null }>(
    db,
    `with now as materialized (
       select pg_current_snapshot()::text as snapshot, coalesce((select max(id) from logs), 0) as last
     )
     select now.snapshot, now.last::text as last, :afterId::bigint < now.last - ${maxScanned} as is_far, line.*
     from now left join lateral (
       select logs.*, events.user_id, events.workflow_id
       from logs left join events on events.id = logs.event_id
       where logs.id > greatest(:afterId::bigint - ${overtaken}, now.last - ${maxScanned})
         and ${['logs.bot_id = :botId', ...conditions, `not ${seenAt(':snapshot')}`].join(' and ')}
       order by logs.id desc limit :limit
     ) line on true`,
    {
      botId,
      levels: levels ?? null,
      eventId: eventId ?? null,
      conversationId: conversationId ?? null,
      words: words ?? null,
      afterId: after.id,
      snapshot: after.snapshot,
      limit: limit + 1,
    },
  )
  const [first] = rows
  const lines = rows.filter((row): row is Row => row.id !== null)
  return {
    rows: lines.slice(0, limit).toReversed(),
    place: { snapshot: first!.snapshot!, id: first!.last! },
    isCut: lines.length > limit || first!.is_far === true,
  }
}
