import { storableText } from '../models/storable.ts'
import type { RunRecord } from '../models/run-record.ts'
import { query, type Database } from './database.ts'
import type { StateType } from '../models/tables.ts'

/** The ends of runs: event, states and log are written together or not at all. */

/**
 * Lets a statement commit without waiting for the disk. If a crash of PostgreSQL loses a claim or an end, the event
 * runs again, and the journal makes that harmless. Only messages have to wait, so a message and its reply take two
 * writes to the disk instead of four.
 */
export const withoutWaiting = `set_config('synchronous_commit', 'off', true)`

/** Changes that a run made to top-level keys of one state. */
export interface StateChange {
  id: string
  type: Extract<StateType, 'bot' | 'user' | 'conversation'>
  /** The event's own bot, user or conversation. */
  ownerId: string
  name: string
  set: Record<string, unknown>
  removed: string[]
  /** Milliseconds after which the state expires unless it is touched. */
  expiry?: number
}

/** A line that a run of an event logged. */
export interface EventLogLine {
  level: string
  message: string
  /** The integration whose code wrote it. Absent: the bot's, or that of the integration that handles the event. */
  integrationId?: string
  /** ISO 8601. */
  timestamp: string
}

export interface EventCompletion {
  id: string
  attempt: number
  status: 'processed' | 'ignored' | 'failed'
  failureReason?: string
  result?: unknown
  /** The records of the event's last runs, this one included; absent: unchanged. */
  runs?: RunRecord[]
  states: StateChange[]
  logs: EventLogLine[]
}

/**
 * Ends some events: each with its status, its run's changes of states, and its log lines, all or nothing.
 *
 * @returns for each event whether it was ended; false, with nothing written, when a newer run has claimed it
 */
export async function completeEvents(db: Database, ends: EventCompletion[]): Promise<boolean[]> {
  const ended = new Set<EventCompletion>()
  for (const group of withoutSharedRows(ends)) {
    const ids = new Set((await completeBatch(db, group)).map(({ id }) => id))
    for (const end of group) if (ids.has(end.id)) ended.add(end)
  }
  return ends.map((end) => ended.has(end))
}

/**
 * A statement changes a row only once, so events that change the same state go into successive statements, in their
 * order. The same holds for two runs of one event, which one worker has when it has claimed an event again after its
 * own run.
 */
function withoutSharedRows(ends: EventCompletion[]): EventCompletion[][] {
  const groups: { ends: EventCompletion[]; rows: Set<string> }[] = []
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

const logInsert = `
  insert into logs (bot_id, event_id, conversation_id, integration_id, level, message, created_at)
  select ended.bot_id, ended.id, ended.conversation_id,
    coalesce(line."integrationId", (select integration_id from installations where installations.id = installation_id)),
    line.level, line.message, line."timestamp"
  from ended, rows from (
    jsonb_to_recordset(:logs) as (
      "eventId" text, "integrationId" text, level text, message text, "timestamp" timestamptz
    )
  ) with ordinality as line ("eventId", "integrationId", level, message, "timestamp", ordinal)
  where line."eventId" = ended.id
  order by line.ordinal`

const endedEvents = `
  ended as (
    update events set status = given.status, failure_reason = given."failureReason", result = given.result,
      runs = coalesce(given.runs, events.runs), ended_at = clock_timestamp(), failures = failures + (given.status = 'failed')::integer
    from jsonb_to_recordset(:ends) as given (id text, attempt integer, status text, "failureReason" text, result jsonb,
      runs jsonb)
    where events.id = any(:ids::text[]) and events.id = given.id and events.attempt = given.attempt
      and ended_at is null
    returning events.id, bot_id, conversation_id, installation_id
  )`

/**
 * A state is written while its owner exists, and cannot be deleted before the commit: the event's conversation, because a
 * deletion waits for the event; a user, whose row is locked after the event's, as the deletion of an installation does.
 */
const completion = `
  with ${endedEvents}, change as (
    select ended.bot_id, ended.conversation_id, given.* from ended, jsonb_to_recordset(:states) as given
      ("eventId" text, id text, type text, "ownerId" text, name text, set jsonb, removed text[], expiry bigint)
    where given."eventId" = ended.id
  ), owners as materialized (
    select id, bot_id from users where id = any(array(select "ownerId" from change where type = 'user'))
    order by id for key share
  ), saved as (
    insert into states as kept (id, bot_id, type, owner_id, name, payload, expiry, expires_at)
    select id, bot_id, type, "ownerId", name, set, expiry, now() + expiry * interval '1 millisecond' from change
    where case type
      when 'user' then exists (select from owners where owners.id = "ownerId" and owners.bot_id = change.bot_id)
      when 'conversation' then "ownerId" = conversation_id
      else true end
    on conflict (bot_id, type, owner_id, name, installation_id) do update set
      payload = case when kept.expires_at <= now() then excluded.payload
        else (kept.payload || excluded.payload) - (select removed from change where change.id = excluded.id) end,
      expiry = excluded.expiry, expires_at = excluded.expires_at, updated_at = now()
  ), logged as (${logInsert})
  select id, ${withoutWaiting} from ended`

/** Of events that changed no state and logged nothing, which takes the database three quarters of the time. */
const completionAlone = `with ${endedEvents} select id, ${withoutWaiting} from ended`

async function completeBatch(db: Database, ends: EventCompletion[]): Promise<{ id: string }[]> {
  const isAlone = ends.every(({ states, logs }) => states.length === 0 && logs.length === 0)
  return query<{ id: string }>(db, isAlone ? completionAlone : completion, {
    // Repeats the ids of `ends` as an array, for which the planner expects few rows and uses the index.
    ids: ends.map(({ id }) => id),
    ends: JSON.stringify(
      ends.map(({ id, attempt, status, failureReason, result, runs }) => ({
        id,
        attempt,
        status,
        failureReason: failureReason && storableText(failureReason),
        result,
        runs,
      })),
    ),
    ...(!isAlone && {
      states: JSON.stringify(ends.flatMap(({ id, states }) => states.map((state) => ({ ...state, eventId: id })))),
      logs: toLogJson(ends),
    }),
  })
}

function toLogJson(events: { id: string; logs: EventLogLine[] }[]): string {
  return JSON.stringify(
    events.flatMap(({ id, logs }) =>
      logs.map((line) => ({ ...line, message: storableText(line.message), eventId: id })),
    ),
  )
}

/** Requeues an event whose run failed because of the bot's own code, for another run after `delay` milliseconds. */
export async function retryEvent(
  db: Database,
  event: { id: string; attempt: number; failureReason: string; delay: number; runs: RunRecord[]; logs: EventLogLine[] },
): Promise<boolean> {
  const [row] = await query<{ count: string }>(
    db,
    `with ended as (
       update events set failures = failures + 1, failure_reason = :failureReason, runs = :runs,
         available_at = clock_timestamp() + :delay::double precision * interval '1 millisecond'
       where id = :id and attempt = :attempt and ended_at is null
       returning id, bot_id, conversation_id, installation_id
     ), logged as (${logInsert})
     select count(*) from ended`,
    {
      id: event.id,
      attempt: event.attempt,
      failureReason: storableText(event.failureReason),
      delay: event.delay,
      runs: JSON.stringify(event.runs),
      logs: toLogJson([event]),
    },
  )
  return row?.count === '1'
}
