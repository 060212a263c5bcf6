import { query, type Database } from './database.ts'
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
 */

/** A claimed event with everything that its run needs, fetched in one statement. */
export interface ClaimedEvent extends EventRow {
  version_id: string | null
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

/** Claims the oldest event of a mailbox. Undefined when none waits, or when the oldest is to wait a while longer. */
export async function claimNextEvent(db: Database, mailbox: string): Promise<ClaimedEvent | undefined> {
  const [row] = await query<ClaimedEvent>(
    db,
    `with next as (
       select id from events where mailbox = :mailbox and status = 'pending' order by created_at, id limit 1
     ), claimed as (
       update events set attempt = attempt + 1, started_at = clock_timestamp()
       from next
       where events.id = next.id and status = 'pending' and available_at <= clock_timestamp()
       returning events.*
     )
     select claimed.*, bots.version_id,
       messages.type as message_type, messages.payload as message_payload,
       messages.metadata as message_metadata, messages.tags as message_tags,
       conversations.tags as conversation_tags, users.tags as user_tags,
       (
         select jsonb_agg(jsonb_build_object('type', type, 'name', name, 'payload', payload)) from states
         where states.bot_id = claimed.bot_id
           and (type, owner_id, name) in (
             ('bot', claimed.bot_id, 'state'),
             ('user', claimed.user_id, 'state'),
             ('conversation', claimed.conversation_id, 'state'),
             ('conversation', claimed.conversation_id, 'session')
           )
           and (expires_at is null or expires_at > now())
       ) as states,
       exists (
         select from events other
         where other.mailbox = :mailbox and other.status = 'pending' and other.id <> claimed.id
       ) as more
     from claimed
     join bots on bots.id = claimed.bot_id
     left join messages on messages.id = claimed.message_id
     left join conversations on conversations.id = claimed.conversation_id
     left join users on users.id = claimed.user_id`,
    { mailbox },
  )
  return row
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
 * Ends an event: its status, the states its run changed and its log, all or nothing.
 *
 * @returns false when a newer run has taken the event over; then nothing was written
 */
export async function endEvent(db: Database, end: EventEnd): Promise<boolean> {
  const [row] = await query<{ count: string }>(
    db,
    `with ended as (
       update events set status = :status, failure_reason = :failureReason, result = :result, ended_at = clock_timestamp(),
         failures = failures + (:status = 'failed')::integer
       where id = :id and attempt = :attempt and status = 'pending'
       returning id, bot_id, conversation_id
     ), saved as (
       insert into states as kept (id, bot_id, type, owner_id, name, payload, expiry, expires_at)
       select change.id, ended.bot_id, change.type, change."ownerId", change.name, change.set, change.expiry,
         now() + change.expiry * interval '1 millisecond'
       from ended, jsonb_to_recordset(:states) as change
         (id text, type text, "ownerId" text, name text, set jsonb, removed text[], expiry bigint)
       on conflict (bot_id, type, owner_id, name) do update set
         payload = case when kept.expires_at <= now() then excluded.payload
           else (kept.payload || excluded.payload) - (
             select change.removed from jsonb_to_recordset(:states) as change (type text, "ownerId" text, name text, removed text[])
             where (change.type, change."ownerId", change.name) = (excluded.type, excluded.owner_id, excluded.name)
           ) end,
         expiry = excluded.expiry, expires_at = excluded.expires_at, updated_at = now()
     ), logged as (${logInsert})
     select count(*) from ended`,
    {
      id: end.id,
      attempt: end.attempt,
      status: end.status,
      failureReason: end.failureReason ?? null,
      result: end.result === undefined ? null : JSON.stringify(end.result),
      states: JSON.stringify(end.states),
      logs: JSON.stringify(end.logs),
    },
  )
  return row?.count === '1'
}

const logInsert = `
  insert into logs (bot_id, event_id, conversation_id, level, message, created_at)
  select ended.bot_id, ended.id, ended.conversation_id, line.level, line.message, line."timestamp"
  from ended, rows from (jsonb_to_recordset(:logs) as (level text, message text, "timestamp" timestamptz))
    with ordinality as line (level, message, "timestamp", place)
  order by line.place`

/** Puts an event back whose run failed by the bot's own doing, for a further run after `delay` milliseconds. */
export async function retryEvent(
  db: Database,
  event: { id: string; attempt: number; failureReason: string; delay: number; logs: LogEntry[] },
): Promise<boolean> {
  const [row] = await query<{ count: string }>(
    db,
    `with ended as (
       update events set failures = failures + 1, failure_reason = :failureReason,
         available_at = clock_timestamp() + :delay * interval '1 millisecond'
       where id = :id and attempt = :attempt and status = 'pending'
       returning id, bot_id, conversation_id
     ), logged as (${logInsert})
     select count(*) from ended`,
    {
      id: event.id,
      attempt: event.attempt,
      failureReason: event.failureReason,
      delay: event.delay,
      logs: JSON.stringify(event.logs),
    },
  )
  return row?.count === '1'
}

/** Mailboxes whose events have been due for longer than `milliseconds` without a run under way. */
export async function forgottenMailboxes(db: Database, milliseconds: number, limit: number): Promise<string[]> {
  const rows = await query<{ mailbox: string }>(
    db,
    `select mailbox from events
     where status = 'pending' and available_at < now() - :milliseconds * interval '1 millisecond'
       and (started_at is null or started_at < now() - :milliseconds * interval '1 millisecond')
     group by mailbox order by min(available_at) limit :limit`,
    { milliseconds, limit },
  )
  return rows.map(({ mailbox }) => mailbox)
}
