import type { OwnLimits } from '../models/code-limits.ts'
import { query, type Database } from './database.ts'
import { disabledReason } from './disabled-code.ts'
import type { EventRow, StateType } from './tables.ts'

/**
 * A mailbox is the events of one conversation that wait to be handled, oldest first. An event's life:
 *
 *   pending ── claimed (attempt + 1) ── ended: processed, ignored or failed
 *      ▲                 │
 *      └── put back ◄────┘ the bot retries, or a run died: then whoever comes next claims it again
 *
 * A claim does not change the status: a run that dies leaves nothing to mend. The attempt is the fence: whatever is
 * written for a run is written only while its attempt is still the newest.
 *
 * Statements that know an event's id ask for `ended_at is null` and not for the status: the latter would offer the
 * partial indexes of waiting events to the planner, which takes them for smaller than they are.
 */

/**
 * Lets a statement commit without waiting for the disk. A claim or an end that a crash of PostgreSQL takes back means
 * that the event runs again, which the journal makes harmless; so only what was said has to wait: two writes to the
 * disk for a message and its reply instead of four.
 */
const withoutWaiting = `set_config('synchronous_commit', 'off', true)`

/**
 * An event may be claimed this long before it is due: its time is rounded to milliseconds, and the clock by which the
 * queue wakes a worker is not the database's. A claim refused for a moment would wait for the sweep.
 */
const earliness = `interval '50 milliseconds'`

/** A claimed event with everything that its run needs, fetched in one statement. */
export interface ClaimedEvent extends EventRow {
  version_id: string | null
  /** Why that version does not run any more; null when it does. */
  disabled_reason: string | null
  /** The bot's own limits. */
  limits: OwnLimits
  /** The bot's secrets, encrypted. */
  secrets: string | null
  /** The types of events that the bot hears of, as keys; null for all. */
  subscriptions: Record<string, unknown> | null
  message_type: string | null
  message_payload: Record<string, unknown> | null
  message_metadata: Record<string, unknown> | null
  message_tags: Record<string, string> | null
  conversation_tags: Record<string, string> | null
  user_tags: Record<string, string> | null
  states: StoredState[] | null
  /** Whether other events wait in the mailbox. */
  more: boolean
}

export interface StoredState {
  type: StateType
  name: string
  payload: Record<string, unknown>
}

/**
 * Claims the oldest event of each of some mailboxes. Undefined where none waits, or where the oldest is to wait a while
 * longer.
 *
 * Its states are looked up name by name (`limit 1`): a planner would rather read all states of a bot at once.
 */
export async function claimNextEvents(db: Database, mailboxes: string[]): Promise<(ClaimedEvent | undefined)[]> {
  const rows = await query<ClaimedEvent>(
    db,
    `with next as (
       select oldest.id from unnest(:mailboxes::text[]) as wanted (mailbox), lateral (
         select id from events
         where events.mailbox = wanted.mailbox and status = 'pending' order by created_at, id limit 1
       ) oldest
     ), claimed as (
       update events set attempt = attempt + 1, started_at = clock_timestamp()
       where id = any(array(select id from next)) and ended_at is null and available_at <= clock_timestamp() + ${earliness}
       returning events.*
     )
     select claimed.*, bots.version_id, ${disabledReason('bots.id', 'bots.version_id')} as disabled_reason,
       bots.limits, bots.secrets,
       bots.definition #> '{subscriptions,events}' as subscriptions, ${withoutWaiting},
       messages.type as message_type, messages.payload as message_payload,
       messages.metadata as message_metadata, messages.tags as message_tags,
       conversations.tags as conversation_tags, users.tags as user_tags,
       (
         select jsonb_agg(jsonb_build_object('type', type, 'name', name, 'payload', payload))
         from (values
           ('bot', claimed.bot_id, 'state'),
           ('user', claimed.user_id, 'state'),
           ('conversation', claimed.conversation_id, 'state'),
           ('conversation', claimed.conversation_id, 'session')
         ) as wanted (type, owner_id, name), lateral (
           select payload from states
           where states.bot_id = claimed.bot_id and states.type = wanted.type and states.owner_id = wanted.owner_id
             and states.name = wanted.name and states.installation_id is null
             and (expires_at is null or expires_at > now())
           limit 1
         ) found
       ) as states,
       exists (
         select from events other
         where other.mailbox = claimed.mailbox and other.status = 'pending' and other.id <> claimed.id
       ) as more
     from claimed
     join bots on bots.id = claimed.bot_id
     left join messages on messages.id = claimed.message_id
     left join conversations on conversations.id = claimed.conversation_id
     left join users on users.id = claimed.user_id`,
    // In one order everywhere, so that two workers never wait for each other's rows.
    { mailboxes: mailboxes.toSorted() },
  )
  const byMailbox = new Map(rows.map((row) => [row.mailbox, row]))
  return mailboxes.map((mailbox) => byMailbox.get(mailbox))
}

/** Top-level keys of one state that a run changed. */
export interface StateChange {
  id: string
  type: StateType
  ownerId: string
  name: string
  set: Record<string, unknown>
  removed: string[]
  /** Milliseconds after which the state is forgotten unless it changes again. */
  expiry?: number
}

export interface LogEntry {
  level: string
  message: string
  /** ISO 8601. */
  timestamp: string
}

export interface EventEnd {
  id: string
  attempt: number
  status: 'processed' | 'ignored' | 'failed'
  failureReason?: string
  result?: unknown
  states: StateChange[]
  logs: LogEntry[]
}

/**
 * Ends some events: for each its status, the states its run changed and its log, all or nothing.
 *
 * @returns for each whether it was ended; it was not, and nothing written, when a newer run has taken it over
 */
export async function endEvents(db: Database, ends: EventEnd[]): Promise<boolean[]> {
  const ended = new Set<EventEnd>()
  for (const group of withoutSharedRows(ends)) {
    const ids = new Set((await endTogether(db, group)).map(({ id }) => id))
    for (const end of group) if (ids.has(end.id)) ended.add(end)
  }
  return ends.map((end) => ended.has(end))
}

/**
 * A statement changes a row once: events that change the same state go into different ones, in their order. So do two
 * runs of one event, of which a worker may have both when it has taken an event over from itself.
 */
function withoutSharedRows(ends: EventEnd[]): EventEnd[][] {
  const groups: { ends: EventEnd[]; rows: Set<string> }[] = []
  for (const end of ends) {
    const states = end.states.map(({ type, ownerId, name }) => JSON.stringify([type, ownerId, name]))
    const rows = [end.id, ...states]
    const last = groups.findLastIndex((group) => rows.some((row) => group.rows.has(row)))
    const group = groups[last + 1] ?? { ends: [], rows: new Set() }
    groups[last + 1] = group
    group.ends.push(end)
    for (const row of rows) group.rows.add(row)
  }
  return groups.map((group) => group.ends)
}

async function endTogether(db: Database, ends: EventEnd[]): Promise<{ id: string }[]> {
  return query<{ id: string }>(
    db,
    `with ended as (
       update events set status = given.status, failure_reason = given."failureReason", result = given.result,
         ended_at = clock_timestamp(), failures = failures + (given.status = 'failed')::integer
       from jsonb_to_recordset(:ends) as given (id text, attempt integer, status text, "failureReason" text, result jsonb)
       where events.id = any(:ids::text[]) and events.id = given.id and events.attempt = given.attempt
         and ended_at is null
       returning events.id, bot_id, conversation_id
     ), change as (
       select ended.bot_id, given.* from ended, jsonb_to_recordset(:states) as given
         ("eventId" text, id text, type text, "ownerId" text, name text, set jsonb, removed text[], expiry bigint)
       where given."eventId" = ended.id
     ), saved as (
       insert into states as kept (id, bot_id, type, owner_id, name, payload, expiry, expires_at)
       select id, bot_id, type, "ownerId", name, set, expiry, now() + expiry * interval '1 millisecond' from change
       on conflict (bot_id, type, owner_id, name, installation_id) do update set
         payload = case when kept.expires_at <= now() then excluded.payload
           else (kept.payload || excluded.payload) - (select removed from change where change.id = excluded.id) end,
         expiry = excluded.expiry, expires_at = excluded.expires_at, updated_at = now()
     ), logged as (${logInsert})
     select id, ${withoutWaiting} from ended`,
    {
      // What is in `ends` already, in a form in which the planner sees an index scan of few rows.
      ids: ends.map(({ id }) => id),
      ends: JSON.stringify(
        ends.map(({ id, attempt, status, failureReason, result }) => ({
          id,
          attempt,
          status,
          failureReason: failureReason && storable(failureReason),
          result,
        })),
      ),
      states: JSON.stringify(ends.flatMap(({ id, states }) => states.map((state) => ({ ...state, eventId: id })))),
      logs: toLogJson(ends),
    },
  )
}

const logInsert = `
  insert into logs (bot_id, event_id, conversation_id, level, message, created_at)
  select ended.bot_id, ended.id, ended.conversation_id, line.level, line.message, line."timestamp"
  from ended, rows from (
    jsonb_to_recordset(:logs) as ("eventId" text, level text, message text, "timestamp" timestamptz)
  ) with ordinality as line ("eventId", level, message, "timestamp", place)
  where line."eventId" = ended.id
  order by line.place`

function toLogJson(events: { id: string; logs: LogEntry[] }[]): string {
  return JSON.stringify(
    events.flatMap(({ id, logs }) => logs.map((line) => ({ ...line, message: storable(line.message), eventId: id }))),
  )
}

/** What bot code printed or threw may hold what PostgreSQL's text cannot. */
export function storable(text: string): string {
  return text.replaceAll('\u0000', '\uFFFD').toWellFormed()
}

/** Puts an event back whose run failed by the bot's own doing, for a further run after `delay` milliseconds. */
export async function retryEvent(
  db: Database,
  event: { id: string; attempt: number; failureReason: string; delay: number; logs: LogEntry[] },
): Promise<boolean> {
  const [row] = await query<{ count: string }>(
    db,
    `with ended as (
       update events set failures = failures + 1, failure_reason = :failureReason,
         available_at = clock_timestamp() + :delay::double precision * interval '1 millisecond'
       where id = :id and attempt = :attempt and ended_at is null
       returning id, bot_id, conversation_id
     ), logged as (${logInsert})
     select count(*) from ended`,
    {
      id: event.id,
      attempt: event.attempt,
      failureReason: storable(event.failureReason),
      delay: event.delay,
      logs: toLogJson([event]),
    },
  )
  return row?.count === '1'
}

/**
 * Mailboxes with events that have been due for some time, and whose they are. Where a run has begun that may still be
 * under way, the mailbox goes on by itself.
 *
 * @param options `runMilliseconds` is how long a run is taken to be under way after its begin
 */
export async function forgottenMailboxes(
  db: Database,
  options: { waitedMilliseconds: number; runMilliseconds: number; limit: number },
): Promise<{ mailbox: string; bot_id: string }[]> {
  return query(
    db,
    `select mailbox, bot_id from events
     where status = 'pending'
       and available_at <= now() - :waitedMilliseconds::double precision * interval '1 millisecond'
     group by mailbox, bot_id
     having bool_and(coalesce(started_at < now() - :runMilliseconds::double precision * interval '1 millisecond', true))
     order by min(available_at) limit :limit`,
    options,
  )
}

/** The bots for which at least so many events wait, or some others, with their number. It reads all events that wait. */
export async function busyBots(
  db: Database,
  which: { least: number; or: string[] },
): Promise<{ bot_id: string; count: number }[]> {
  return query(
    db,
    `select bot_id, count(*)::integer as count from events where status = 'pending'
     group by bot_id having count(*) >= :least or bot_id = any(:or::text[])`,
    which,
  )
}
