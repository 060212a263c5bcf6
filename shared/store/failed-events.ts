import type { Knex } from 'knex'
import { largeOfEvents } from './events.ts'
import { readPage } from './page-bytes.ts'
import { page, toPage, type Page, type PageRequest } from './pagination.ts'
import { unreplayable, type FailedEventRow } from '../models/failed-event.ts'
import type { Database } from './database.ts'
import type { LogRow } from '../models/tables.ts'

/** Selects failed events of a bot. */
export interface FailedEventFilter {
  type?: string | undefined
  conversationId?: string | undefined
  /** Text within the failure reason, ignoring case. */
  reason?: string | undefined
  /** Bounds of the time of the failure. */
  afterDate?: string | undefined
  beforeDate?: string | undefined
}

/** One page of a bot's failed events, the latest failure first. */
export async function pageOfFailedEvents(
  db: Database,
  botId: string,
  filter: FailedEventFilter,
  request: PageRequest,
): Promise<Page<FailedEventRow>> {
  const read = failedEvents(db, botId)
    .modify(narrow, filter)
    .modify((builder) => page(builder, request, 'ended_at'))
  const rows = await readPage<FailedEventRow>(db, read, largeOfEvents, { column: 'ended_at' })
  return toPage(rows, request, (row) => ({ createdAt: row.ended_at, id: row.id }))
}

export async function findFailedEvent(db: Database, botId: string, id: string): Promise<FailedEventRow | undefined> {
  return failedEvents(db, botId).where({ id }).first()
}

/** The first log lines of an event's runs. */
export async function logOfEvent(db: Database, botId: string, eventId: string, limit: number): Promise<LogRow[]> {
  return db('logs').where({ bot_id: botId, event_id: eventId }).orderBy('id').limit(limit)
}

/**
 * Requeues failed events up to a limit, the earliest failure first. Selects the replayable ones that failed after
 * `oldest`.
 *
 * @returns the mailboxes, one per event
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
      // Fences a run that was suspended since before the failure.
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
  // A literal and not a binding: the plan is made before values are known, and the partial index has this condition.
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
