import { setImmediate } from 'node:timers/promises'
import { ApiError } from '../errors.ts'
import { flowScheduled, reservedTypes } from '../models/event.ts'
import { firstOccurrence, nextOccurrence } from '../recurrence.ts'
import { query, type Database } from './database.ts'
import { eventInsert } from './insert-rows.ts'
import type { Due } from './scheduled-events.ts'
import type { RecurringEventRow } from '../models/tables.ts'

/** Bounded because the recurring events of all bots fire one after the other. */
const maxPerBot = 20

/** The names of the schedules of flows begin so; those of the bot's own recurring events do not. */
const ofFlows = '$flow/'

/** An event that a bot receives by schedule. */
export interface RecurringEvent {
  schedule: { cron: string }
  type: string
  payload: Record<string, unknown>
}

/** The first times of schedules, by cron expression. */
export type FirstTimes = Map<string, Date>

/**
 * Refuses changes of recurring events that no bot may have, and finds the first times of their schedules. An expression
 * takes milliseconds, so this is done before the transaction that sets them.
 *
 * @throws ApiError `InvalidPayload` when a schedule is not a cron expression, or a name or a type is reserved,
 *   `LimitExceeded` when there are too many
 */
export async function planRecurringEvents(
  db: Database,
  changes: Record<string, RecurringEvent | null>,
): Promise<FirstTimes> {
  assertRecurringEvents(changes)
  return firstTimes(db, cronsOf(changes), firstOccurrence)
}

/** Finds the first times of the schedules of flows, which were examined when they were uploaded. */
export function planFlowSchedules(
  db: Database,
  schedules: { cron: string }[],
  planned?: FirstTimes,
): Promise<FirstTimes> {
  const crons = schedules.map(({ cron }) => cron)
  return firstTimes(db, crons, nextOccurrence, planned)
}

function assertRecurringEvents(changes: Record<string, RecurringEvent | null>): void {
  if (cronsOf(changes).length > maxPerBot) throw tooMany()
  for (const [name, change] of Object.entries(changes)) {
    if (name.startsWith(ofFlows)) {
      throw new ApiError('InvalidPayload', `recurringEvents: names that begin with '${ofFlows}' belong to flows`)
    }
    if (change && reservedTypes.includes(change.type)) {
      throw new ApiError(
        'InvalidPayload',
        `recurringEvents.${name}: the event type '${change.type}' is reserved by the platform: choose another`,
      )
    }
  }
}

function tooMany(): ApiError {
  return new ApiError('LimitExceeded', `A bot has at most ${maxPerBot} recurring events: remove some`)
}

function cronsOf(changes: Record<string, RecurringEvent | null>): string[] {
  return Object.values(changes).flatMap((change) => (change ? [change.schedule.cron] : []))
}

/** By the time of the database, by whose clock events are due; without any, no statement is made for it. */
async function firstTimes(
  db: Database,
  crons: string[],
  find: typeof nextOccurrence,
  known: FirstTimes = new Map(),
): Promise<FirstTimes> {
  const times = new Map(known)
  const unknown = new Set(crons.filter((cron) => !known.has(cron)))
  const [row] = unknown.size === 0 ? [] : await query<{ now: Date }>(db, 'select now()', {})
  for (const cron of unknown) {
    times.set(cron, find(cron, row!.now))
    // Twenty at once would hold the answers to others for a second.
    await setImmediate()
  }
  return times
}

/**
 * Changes a bot's recurring events: given ones are set, null ones are removed, the others stay. One whose schedule is
 * unchanged keeps its next time.
 *
 * @param planned by `planRecurringEvents`; plugins that another request has changed meanwhile may have further ones
 * @throws ApiError as `planRecurringEvents`, and `LimitExceeded` when there are too many with those that stay
 */
export async function setRecurringEvents(
  db: Database,
  botId: string,
  changes: Record<string, RecurringEvent | null>,
  planned?: FirstTimes,
): Promise<void> {
  assertRecurringEvents(changes)
  const times = await firstTimes(db, cronsOf(changes), firstOccurrence, planned)
  const removed = Object.keys(changes).filter((name) => changes[name] === null)
  if (removed.length > 0) await db('recurring_events').where({ bot_id: botId }).whereIn('name', removed).delete()
  for (const [name, change] of Object.entries(changes)) {
    if (change) await putRecurringEvent(db, botId, name, change, times.get(change.schedule.cron)!)
  }
  const names = await db('recurring_events')
    .where({ bot_id: botId })
    .whereRaw('not starts_with(name, ?)', [ofFlows])
    .limit(maxPerBot + 1)
    .pluck('name')
  if (names.length > maxPerBot) throw tooMany()
}

/**
 * Sets the schedules of a bot's flows, and removes its other schedules of flows. One whose cron expression is unchanged
 * keeps its next time.
 *
 * @param planned by `planFlowSchedules`; those that it lacks are found here
 */
export async function setFlowSchedules(
  db: Database,
  botId: string,
  schedules: { flow: string; trigger: string; cron: string }[],
  planned?: FirstTimes,
): Promise<void> {
  const times = await planFlowSchedules(db, schedules, planned)
  const named = schedules.map((schedule) => ({ ...schedule, name: `${ofFlows}${schedule.flow}/${schedule.trigger}` }))
  await query(
    db,
    `delete from recurring_events
     where bot_id = :botId and starts_with(name, :ofFlows) and name <> all(:names::text[])`,
    { botId, ofFlows, names: named.map(({ name }) => name) },
  )
  for (const { name, flow, trigger, cron } of named) {
    const event = { schedule: { cron }, type: flowScheduled, payload: { flow, trigger } }
    await putRecurringEvent(db, botId, name, event, times.get(cron)!)
  }
}

async function putRecurringEvent(
  db: Database,
  botId: string,
  name: string,
  { schedule, type, payload }: RecurringEvent,
  nextAt: Date,
): Promise<void> {
  await query(
    db,
    `insert into recurring_events as kept (bot_id, name, type, payload, cron, next_at)
     values (:botId, :name, :type, :payload, :cron, :nextAt)
     on conflict (bot_id, name) do update set
       type = excluded.type, payload = excluded.payload, cron = excluded.cron,
       next_at = case when kept.cron = excluded.cron then kept.next_at else excluded.next_at end`,
    { botId, name, type, payload: JSON.stringify(payload), cron: schedule.cron, nextAt },
  )
}

/** The number of failed firings and the last reason, the last firing included: its outcome is read from its event. */
const failures = `
  failed_attempts + (last.status is not distinct from 'failed')::integer as failed_attempts,
  case when last.status = 'failed' then last.failure_reason else last_failure_reason end as last_failure_reason`

const joinLast = `left join events last on last.id = last_event_id and last.bot_id = recurring_events.bot_id`

/** A bot's own recurring events. */
export async function listRecurringEvents(db: Database, botId: string): Promise<RecurringEventRow[]> {
  return query<RecurringEventRow>(
    db,
    `select recurring_events.*, ${failures} from recurring_events ${joinLast}
     where recurring_events.bot_id = :botId and not starts_with(name, :ofFlows) order by name`,
    { botId, ofFlows },
  )
}

/** A recurring event that is due, and the time of the database, by whose clock all processes tell the next time. */
export type DueRecurringEvent = RecurringEventRow & { now: Date }

/** Recurring events that are due, the longest due first. */
export async function dueRecurringEvents(db: Database, due: Due): Promise<DueRecurringEvent[]> {
  return query<DueRecurringEvent>(
    db,
    `select recurring_events.*, ${failures}, now() from recurring_events ${joinLast}
     where next_at <= now() and recurring_events.bot_id <> all(:exceptBots::text[]) order by next_at limit :limit`,
    { ...due },
  )
}

const firing = eventInsert({ id: ':eventId', bot_id: 'bot_id', mailbox: ':eventId', type: 'type', payload: 'payload' })

/**
 * Fires a recurring event and sets its next time. Undefined when another worker has fired it, or it has changed since.
 *
 * @param due the row as it was read
 * @param eventId the id of the new event, which is also its mailbox
 * @returns the mailbox
 */
export async function fireRecurringEvent(
  db: Database,
  due: RecurringEventRow,
  eventId: string,
  nextAt: Date,
): Promise<string | undefined> {
  const [row] = await query<{ mailbox: string }>(
    db,
    `with fired as (
       update recurring_events set next_at = :nextAt, last_event_id = :eventId,
         failed_attempts = :failedAttempts, last_failure_reason = :lastFailureReason
       where bot_id = :botId and name = :name and next_at = :dueAt
       returning bot_id, type, payload
     )
     ${firing} from fired
     returning mailbox`,
    {
      eventId,
      nextAt,
      botId: due.bot_id,
      name: due.name,
      dueAt: due.next_at,
      failedAttempts: due.failed_attempts,
      lastFailureReason: due.last_failure_reason,
    },
  )
  return row?.mailbox
}
