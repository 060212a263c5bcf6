import type { Knex } from 'knex'
import { page, toPage, type Page, type PageRequest } from './pagination.ts'
import { unreplayable, type FailedEventRow } from '../models/failed-event.ts'
import type { Database } from './database.ts'
import type { LogRow } from '../models/tables.ts'

/** Which of a bot's dead letters. */
export interface FailedEventFilter {
  type?: string | undefined
  conversationId?: string | undefined
  /** Words that occur in the reason, in upper or lower case. */
  reason?: string | undefined
  /** They failed after this time, or before it. */
  afterDate?: string | undefined
  beforeDate?: string | undefined
}

/** One page of the events of a bot that failed for good, the last failed first. */
export async function pageOfFailedEvents(
  db: Database,
  botId: string,
  filter: FailedEventFilter,
  request: PageRequest,
): Promise<Page<FailedEventRow>> {
  const rows: FailedEventRow[] = await failedEvents(db, botId)
    .modify(narrow, filter)
    .modify((builder) => page(builder, request, 'ended_at'))
  return toPage(rows, request, (row) => ({ createdAt: row.ended_at, id: row.id }))
}

export async function findFailedEvent(db: Database, botId: string, id: string): Promise<FailedEventRow | undefined> {
  return failedEvents(db, botId).where({ id }).first()
}

/** The first lines that an event's runs logged. */
export async function logOfEvent(db: Database, botId: string, eventId: string, limit: number): Promise<LogRow[]> {
  return db('logs').where({ bot_id: botId, event_id: eventId }).orderBy('id').limit(limit)
}

/**
 * Puts failed events back into their mailboxes, those that failed first before others, as many as the limit says. Of
 * those that can be run again and failed after `oldest`.
 *
 * @returns the mailboxes, one for each event
 */
export async function replayEvents(
  db: Database,
  botId: string,
  which: FailedEventFilter & { id?: string },
  { oldest, limit }: { oldest: Date; limit: number },
): Promise<string[]> {
  const chosen = failedEvents(db, botId)
    .modify(narrow, which)
    .modify((builder) => which.id !== undefined && builder.where({ id: which.id }))
    .whereNotIn('type', unreplayable)
    .where('ended_at', '>', oldest)
    .orderBy(['ended_at', 'id'])
    .limit(limit)
    .forUpdate()
    .select('id')
  const rows = await db('events')
    .whereIn('id', chosen)
    .update({
      status: 'pending',
      // A run that was paused since before the failure must find that it is not the newest.
      attempt: db.raw('attempt + 1'),
      failures: 0,
      failure_reason: null,
      result: null,
      available_at: db.fn.now(3),
      started_at: null,
      ended_at: null,
    })
    .returning('mailbox')
  return rows.map(({ mailbox }) => mailbox)
}

function failedEvents(db: Database, botId: string) {
  const events = db<FailedEventRow, FailedEventRow[]>('events').where({ bot_id: botId })
  // No binding: the partial index is for this status, and a plan is made before the values are known.
  return events.whereRaw(`status = 'failed'`)
}

function narrow(builder: Knex.QueryBuilder, filter: FailedEventFilter): void {
  const { type, conversationId, reason, afterDate, beforeDate } = filter
  if (type !== undefined) void builder.where({ type })
  if (conversationId !== undefined) void builder.where({ conversation_id: conversationId })
  if (reason !== undefined) void builder.whereRaw('strpos(lower(failure_reason), lower(?)) > 0', [reason])
  if (afterDate !== undefined) void builder.where('ended_at', '>', afterDate)
  if (beforeDate !== undefined) void builder.where('ended_at', '<', beforeDate)
}
