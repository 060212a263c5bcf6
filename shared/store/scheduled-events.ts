import { nextClock } from './conversation-log.ts'
import { query, type Database } from './database.ts'
import type { EventsOf } from './events.ts'
import type { EventRow } from '../models/tables.ts'

/**
 * An event for a later time is `scheduled` until it is due. Then it becomes `pending`, at the end of its mailbox as if
 * it had been created at that moment; or it is cancelled before, and `canceled` for good.
 */

/** Cancels an event. Undefined when there is none that is still scheduled. */
export async function cancelScheduledEvent(
  db: Database,
  { botId, madeBy }: EventsOf,
  id: string,
): Promise<EventRow | undefined> {
  const [row] = await query<EventRow>(
    db,
    `update events set status = 'canceled', ended_at = clock_timestamp()
     where id = :id and bot_id = :botId and status = 'scheduled'
       and (:integration::text is null or (integration = :integration and starts_with(type, :typePrefix)))
     returning *`,
    { id, botId, integration: madeBy?.integration ?? null, typePrefix: madeBy?.typePrefix ?? null },
  )
  return row
}

/** Which rows that are due are looked for. */
export interface Due {
  limit: number
  /** Bots for which too many events wait: what is due for them stays so. */
  fullBots: string[]
}

/** Scheduled events that are due, the longest due first. */
export async function dueEvents(db: Database, due: Due): Promise<EventRow[]> {
  return query<EventRow>(
    db,
    `select * from events
     where status = 'scheduled' and available_at <= now() and bot_id <> all(:fullBots::text[])
     order by available_at, id limit :limit`,
    { ...due },
  )
}

/**
 * Puts an event that is due at the end of its mailbox. False when it is not scheduled any more: another worker was
 * quicker, or it was cancelled.
 *
 * The conversation is locked before the event, as by all who lock both.
 */
export async function putIntoMailbox(db: Database, event: EventRow): Promise<boolean> {
  const rows = await query(
    db,
    `with conversation as (
       ${nextClock} where id = :conversationId and bot_id = :botId
       returning clock
     ), place as (
       select coalesce((select clock from conversation), clock_timestamp()) as at
     )
     update events set status = 'pending', created_at = place.at, available_at = now()
     from place
     where id = :id and bot_id = :botId and status = 'scheduled'
     returning id`,
    { id: event.id, botId: event.bot_id, conversationId: event.conversation_id },
  )
  return rows.length === 1
}

/** Whether an event is still scheduled; if it is, then until the transaction ends: its conversation is locked. */
export async function lockScheduledEvent(db: Database, event: EventRow): Promise<boolean> {
  await query(db, `select from conversations where bot_id = :botId and id = :id for no key update`, {
    botId: event.bot_id,
    id: event.conversation_id,
  })
  const rows = await query(db, `select from events where id = :id and status = 'scheduled'`, { id: event.id })
  return rows.length === 1
}

/** Ends an event for which no code has to run. */
export async function endScheduledEvent(
  db: Database,
  id: string,
  end: { status: 'processed' | 'failed'; failureReason?: string },
): Promise<void> {
  await query(
    db,
    `update events set status = :status, failure_reason = :failureReason, ended_at = clock_timestamp()
     where id = :id and status = 'scheduled'`,
    { id, status: end.status, failureReason: end.failureReason ?? null },
  )
}
