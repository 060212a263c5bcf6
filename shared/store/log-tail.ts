import { query, type Database } from './database.ts'
import { seenAt } from './log-snapshot.ts'
import type { DescribedLogRow } from '../models/log-line.ts'

/**
 * A position in a bot's log. Ids are assigned when an insert begins, and lines become visible in another order: a slow
 * statement makes lines visible after lines with higher ids. A position is therefore a snapshot of PostgreSQL, and a
 * read returns the lines that were not visible at the former position.
 */
export interface LogPosition {
  snapshot: string
  /** The approximate highest id at that time. */
  id: string
}

/** Selects new lines. */
export interface LogTailFilter {
  levels?: string[] | undefined
  eventId?: string | undefined
  conversationId?: string | undefined
  words?: string | undefined
}

/** Upper bound of the lines of all bots that begin to be inserted before an earlier line becomes visible. */
const overtaken = 2000
/** Lines of all bots that one read scans: a client that returns after a long time misses the lines before them. */
const maxScanned = 20_000

/** The present position of a log. */
export async function logPosition(db: Database): Promise<LogPosition> {
  const [row] = await query<LogPosition>(
    db,
    `select pg_current_snapshot()::text as snapshot, coalesce(max(id), 0)::text as id from logs`,
    {},
  )
  return row!
}

export interface LogTail {
  /** The last matching lines, oldest first. */
  rows: DescribedLogRow[]
  position: LogPosition
  /** Whether older lines were left out. */
  isCut: boolean
}

/** The lines of a bot that were stored since a position. */
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
    position: { snapshot: first!.snapshot!, id: first!.last! },
    isCut: lines.length > limit || first!.is_far === true,
  }
}
