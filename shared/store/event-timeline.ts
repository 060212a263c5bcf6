import type { Cursor } from './pagination.ts'
import { query, type Database } from './database.ts'
import { largeOfEvents } from './events.ts'
import { endedByBytes, type PageEnd } from './page-bytes.ts'
import type { EventStatus } from '../models/tables.ts'
import type { TimelineRow } from '../models/timeline-event.ts'

export interface TimelineFilter {
  status?: EventStatus | undefined
  type?: string | undefined
  conversationId?: string | undefined
  userId?: string | undefined
  messageId?: string | undefined
  eventId?: string | undefined
  /** ISO 8601; both ends are inclusive. */
  timeStart?: string | undefined
  timeEnd?: string | undefined
  /** Searched for in the failure reason, ignoring case; with `searchesContents` in the messages too. */
  words?: string | undefined
  searchesContents?: boolean
}

/** Upper bound of the events scanned per call. */
export const maxScanned = 5000

export interface Timeline {
  rows: TimelineRow[]
  /** The last position scanned; undefined when all events were scanned. */
  end?: Cursor
}

/**
 * The newest events of a bot from a position on that match a filter. One call scans a bounded number of events in index
 * order: with a filter that few events match, it may return fewer than the limit, and the next call continues at `end`.
 */
export async function scanEvents(
  db: Database,
  botId: string,
  filter: TimelineFilter,
  { after, limit, maxEvents = maxScanned }: { after?: Cursor | undefined; limit: number; maxEvents?: number },
): Promise<Timeline> {
  const { conversationId, eventId, timeStart, timeEnd, words, searchesContents = false } = filter
  const ranges = [
    after && '(created_at, id) < (:afterTime, :afterId)',
    timeStart !== undefined && 'created_at >= :timeStart',
    timeEnd !== undefined && 'created_at <= :timeEnd',
  ]
  const passes = [
    filter.status !== undefined && 'status = :status',
    filter.type !== undefined && 'type = :type',
    filter.userId !== undefined && 'user_id = :userId',
    filter.messageId !== undefined && 'message_id = :messageId',
    words !== undefined && `(strpos(lower(failure_reason), lower(:words)) > 0${searchesContents ? contents : ''})`,
  ]
  // Without conditions every scanned event is returned, so no more are scanned than the page needs.
  const scanLimit = passes.some(Boolean) ? maxEvents : Math.min(maxEvents, limit + 1)
  const found = await query<{ id: string; created_at: Date; passes: boolean; is_last: boolean }>(
    db,
    `with looked as materialized (
       select ${searchesContents && words !== undefined ? `${judged}, payload` : judged} from (${source({ conversationId, eventId })}) events
       ${where(ranges)}
       order by created_at desc, id desc limit :scanLimit
     ), judged as (
       select id, created_at, ${all(passes)} as passes,
         row_number() over (order by created_at, id) = 1 and count(*) over () = :scanLimit as is_last
       from looked events
     )
     select id, created_at, passes, is_last from judged where passes or is_last
     order by created_at desc, id desc limit :limit`,
    {
      botId,
      scanLimit,
      // One row more than the page shows whether another page follows.
      limit: limit + 1,
      conversationId: conversationId ?? null,
      eventId: eventId ?? null,
      afterTime: after?.createdAt ?? null,
      afterId: after?.id ?? null,
      timeStart: timeStart === undefined ? null : new Date(timeStart),
      timeEnd: timeEnd === undefined ? null : new Date(timeEnd),
      status: filter.status ?? null,
      type: filter.type ?? null,
      userId: filter.userId ?? null,
      messageId: filter.messageId ?? null,
      words: words ?? null,
      jsonWords: words === undefined ? null : JSON.stringify(words).slice(1, -1),
    },
  )
  const passed = found.filter((row) => row.passes)
  const shown = passed.slice(0, limit)
  const rows = await timelineRows(
    db,
    botId,
    shown.map(({ id }) => id),
  )
  const lastRead = rows.at(-1)
  const cut = lastRead?.is_followed ? lastRead : undefined
  const last = cut ?? (passed.length > limit ? shown.at(-1) : found.find((row) => row.is_last))
  return {
    rows,
    ...(last && { end: { createdAt: last.created_at, id: last.id } }),
  }
}

const timelineStatement = endedByBytes(
  `select events.*, messages.type as message_type, messages.payload as message_payload,
     installations.alias as installation_alias
   from (select * from events where id = any(:ids::text[]) offset 0) events
   left join messages on messages.id = events.message_id and messages.bot_id = events.bot_id
   left join installations on installations.id = events.installation_id
   where events.bot_id = :botId`,
  [...largeOfEvents, 'listed.message_payload'],
)

/**
 * Events by their ids, newest first, up to the bytes that a page may have. They are found in a subquery with an offset, which is
 * planned apart: the planner, which knows no values, would look for them among all events of the bot.
 */
export async function timelineRows(db: Database, botId: string, ids: string[]): Promise<(TimelineRow & PageEnd)[]> {
  if (ids.length === 0) return []
  return query(db, timelineStatement, { botId, ids })
}

/**
 * The rows to scan: all of the bot's events, or those of one conversation, which are few. `offset 0` prevents the
 * planner from scanning the former in order until it meets the latter.
 */
function source({ conversationId, eventId }: Pick<TimelineFilter, 'conversationId' | 'eventId'>): string {
  const conversation = conversationId === undefined ? '' : ' and conversation_id = :conversationId'
  if (eventId !== undefined)
    return `select * from events where bot_id = :botId and id = :eventId${conversation} offset 0`
  if (conversation) return `select * from events where bot_id = :botId${conversation} offset 0`
  return 'select * from events where bot_id = :botId'
}

const contents = `
  or strpos(lower(payload::text), lower(:jsonWords)) > 0
  or exists (
    select from messages where messages.id = events.message_id and messages.bot_id = events.bot_id
      and strpos(lower(messages.payload::text), lower(:jsonWords)) > 0
  )`

/** The columns that the filter needs. The scan is materialised in memory; whole rows would spill to the disk. */
const judged = 'id, bot_id, created_at, status, type, user_id, message_id, failure_reason'

type Condition = string | false | undefined

function where(conditions: Condition[]): string {
  const given = conditions.filter(Boolean)
  return given.length === 0 ? '' : `where ${given.join(' and ')}`
}

function all(conditions: Condition[]): string {
  const given = conditions.filter(Boolean)
  return given.length === 0 ? 'true' : `coalesce(${given.join(' and ')}, false)`
}
