import { isOfBot, nextClock } from './conversation-log.ts'
import { query, type Database } from './database.ts'
import type { EventsOf } from './events.ts'
import { applyMatch } from './filters.ts'
import { messageScheduled } from '../models/event.ts'
import type { TagMatch } from '../models/tags.ts'
import type { EventRow, MessageRow } from '../models/tables.ts'

/**
 * An event for a later time is `scheduled` until it is due. Then it becomes `pending`, at the end of its mailbox, as if
 * it were created at that moment. An event that is cancelled before becomes `canceled`, which is final.
 */

/** Cancels an event. Undefined when it is not scheduled. */
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

/** Restricts a search for due rows. */
export interface Due {
  limit: number
  /** Bots whose due rows are left out. */
  exceptBots: string[]
}

/** Scheduled events that are due, the longest due first. */
export async function dueEvents(db: Database, due: Due): Promise<EventRow[]> {
  return query<EventRow>(
    db,
    `select * from events
     where status = 'scheduled' and available_at <= now() and bot_id <> all(:exceptBots::text[])
     order by available_at, id limit :limit`,
    { ...due },
  )
}

/**
 * Moves a due event to the end of its mailbox, and notes it for the workflow that it names. False when it is no longer
 * scheduled, because another worker has moved it or it was cancelled.
 *
 * The conversation is locked before the event, in the order of all statements that lock both.
 */
export async function putIntoMailbox(db: Database, event: EventRow): Promise<boolean> {
  const rows = await query(
    db,
    `with conversation as (
       ${nextClock} where id = :conversationId and ${isOfBot}
       returning clock
     ), place as (
       select coalesce((select clock from conversation), clock_timestamp()) as at
     ), moved as (
       update events set status = 'pending', created_at = place.at, available_at = now()
       from place
       where id = :id and bot_id = :botId and status = 'scheduled'
       returning id, bot_id, workflow_id
     ), heard as (
       update workflows set heard_event_id = moved.id, continues_at = now()
       from moved
       where workflows.bot_id = moved.bot_id and workflows.id = moved.workflow_id and completed_at is null
     )
     select id from moved`,
    { id: event.id, botId: event.bot_id, conversationId: event.conversation_id },
  )
  return rows.length === 1
}

/**
 * Finds an event as it is now, if it is still scheduled. If so it stays as it is until the transaction ends. Undefined when it
 * is not.
 */
export async function lockScheduledEvent(db: Database, event: EventRow): Promise<EventRow | undefined> {
  await query(db, `select from conversations where bot_id = :botId and id = :id for no key update`, {
    botId: event.bot_id,
    id: event.conversation_id,
  })
  const [row] = await query<EventRow>(
    db,
    `select * from events where id = :id and status = 'scheduled' for no key update`,
    { id: event.id },
  )
  return row
}

/** Ends an event that needs no run of code. */
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

/** Finds a scheduled message of a conversation by its tags; of several, the oldest. Its event has a `ReadyMessage` as payload. */
export async function findScheduledMessage(
  db: Database,
  where: { botId: string; conversationId: string },
  match: TagMatch,
): Promise<EventRow | undefined> {
  const scheduled = db('events')
    .where({
      bot_id: where.botId,
      conversation_id: where.conversationId,
      type: messageScheduled,
      status: 'scheduled',
    })
    .select('*', db.raw(`coalesce(payload #> '{message,tags}', '{}') as tags`))
  const row = await db
    .from(scheduled.as('scheduled'))
    .modify(applyMatch, 'scheduled', match)
    .orderBy(['created_at', 'id'])
    .first()
  return row as EventRow | undefined
}

/** Changes the content and the tags of a scheduled message. @returns whether it is still scheduled */
export async function updateScheduledMessage(
  db: Database,
  eventId: string,
  { payload, metadata, tags }: Pick<MessageRow, 'payload' | 'metadata' | 'tags'>,
): Promise<boolean> {
  const changes = { payload, ...(metadata && { metadata }), tags }
  const rows = await query(
    db,
    `update events
     set payload = jsonb_set(payload, '{message}', (payload -> 'message') - 'metadata' || :changes::jsonb)
     where id = :eventId and status = 'scheduled' returning id`,
    { eventId, changes: JSON.stringify(changes) },
  )
  return rows.length === 1
}
