import { chatCustom, toChatEvent } from '../models/event.ts'
import { toMessage } from '../models/message.ts'
import type { ChatSignal, StoredSignal } from '../models/signal.ts'
import { query, type Database } from './database.ts'
import { endedByBytes, type PageEnd } from './page-bytes.ts'
import type { EventRow, MessageRow } from '../models/tables.ts'
import { externalUserIds } from './users.ts'

/**
 * A conversation's log contains all that its listeners receive: the messages and custom events, and signals of other
 * changes, which have a table of their own. The time of an entry is its position: each writer locks the conversation's
 * row and takes the next millisecond of its clock, so the order of the times is the order of the commits. The
 * conversation numbers its entries, so that a reader who receives one can detect a missing earlier one.
 */

/** The end of a log. */
export interface LogPosition {
  /** The number of entries so far. */
  sequence: number
  /** The time of the newest entry. */
  at: Date
}

/** An entry that was written. */
export interface LogEntry extends LogPosition {
  botId: string
  conversationId: string
  /** Whether the entry has to be sent to the installation's webhook. */
  hasWebhook: boolean
}

/** The columns that a statement which writes an entry returns, besides those of the row itself. */
export interface EntryColumns {
  bot_id: string
  conversation_id: string
  sequence: number
  clock: Date
  has_webhook: boolean
}

export function toLogEntry(row: EntryColumns): LogEntry {
  return {
    botId: row.bot_id,
    conversationId: row.conversation_id,
    sequence: row.sequence,
    at: row.clock,
    hasWebhook: row.has_webhook,
  }
}

/** SQL that advances a conversation's clock to the position of the next row; up to the `where`. */
export const nextClock = `
  update conversations set clock = greatest(clock_timestamp(), clock + interval '1 millisecond')`

/** SQL that allocates the position of an entry; up to the `where` that selects the conversation. */
export const nextEntry = `${nextClock}, sequence = sequence + 1`

/** SQL that allocates the position of a message, likewise. */
export const nextMessage = `${nextEntry}, messaged_at = clock_timestamp()`

/**
 * SQL for whether a conversation that its id finds is one of the bot's. No index serves `is not distinct from`: by `=`, a
 * plan of a time when there were few conversations reads all of the bot's until the table is analyzed.
 */
export const isOfBot = 'bot_id is not distinct from :botId'

/** The columns that `conversation as (${nextEntry} …)` must return for the fragments below. */
export const conversationColumns = `id, bot_id, installation_id, clock, sequence`

/**
 * SQL for whether a `conversation`'s installation has a webhook. A subquery and not a join: few installations have one,
 * so a planner would scan all of them.
 */
export const hasWebhook = `(
  select has_webhook from installations where installations.id = conversation.installation_id
)`

/** SQL that records that the entry has to be sent to the installation's webhook, if there is one. */
export const webhookCursorUpsert = `
  webhook as (
    insert into webhook_cursors (conversation_id, bot_id, delivered, latest)
    select conversation.id, conversation.bot_id, clock - interval '1 millisecond', clock
    from conversation where ${hasWebhook}
    on conflict (conversation_id) do update set latest = excluded.latest
    returning conversation_id
  )`

/** SQL for the `EntryColumns`. */
export const entryColumns = `
  conversation.id as conversation_id, sequence, clock, exists (select from webhook) as has_webhook`

/**
 * Makes a change and records its signal, in one statement. Undefined when nothing was changed.
 *
 * @param change SQL that returns the `conversation_id` if it changes a row
 */
export async function changeAndRecord(
  db: Database,
  change: string,
  bindings: Record<string, string>,
  signal: StoredSignal,
): Promise<LogEntry | undefined> {
  const [row] = await query<EntryColumns>(
    db,
    `with change as (${change}), conversation as (
       ${nextEntry} where id = (select conversation_id from change) returning ${conversationColumns}
     ), ${webhookCursorUpsert}, entry as (
       insert into conversation_signals (conversation_id, bot_id, created_at, signal)
       select id, bot_id, clock, :signal from conversation
     )
     select conversation.bot_id, ${entryColumns} from conversation`,
    { ...bindings, signal: JSON.stringify(signal) },
  )
  return row && toLogEntry(row)
}

/** Records a signal without a change of rows. Undefined when the bot has no such conversation. */
export async function recordSignal(
  db: Database,
  where: { botId: string; conversationId: string },
  signal: StoredSignal,
): Promise<LogEntry | undefined> {
  const change = `select id as conversation_id from conversations where id = :conversationId and bot_id = :botId`
  return changeAndRecord(db, change, { ...where }, signal)
}

/** The ends of some conversations' logs, by conversation id; deleted conversations are absent. */
export async function readPositions(db: Database, conversationIds: string[]): Promise<Map<string, LogPosition>> {
  const rows = await query<{ id: string; sequence: number; clock: Date }>(
    db,
    `select id, sequence, clock from conversations where id = any(:conversationIds)`,
    { conversationIds },
  )
  return new Map(rows.map(({ id, sequence, clock }) => [id, { sequence, at: clock }]))
}

/** An entry as read from the log. `data.conversationId` is the internal id. */
export interface ReadEntry {
  at: Date
  signal: ChatSignal
}

export interface LogPage {
  /** In log order. */
  entries: ReadEntry[]
  /** The result is complete up to this time. */
  until: Date
}

/** Entries of each kind per read. */
const batchSize = 50

const columnsOfMessages = 'id, type, user_id, direction, payload, metadata, created_at'
const inRange = `
  entry.bot_id = :botId and entry.conversation_id = :conversationId and entry.created_at > :after and entry.created_at <= :until
  order by entry.created_at limit ${batchSize}`
const oldestFirst = { id: 'created_at', ascending: true }

const messagesStatement = endedByBytes(
  `select ${columnsOfMessages} from messages entry where ${inRange}`,
  ['listed.payload', 'listed.metadata'],
  oldestFirst,
)

const eventsStatement = endedByBytes(
  `select id, user_id, payload, created_at from events entry where type = '${chatCustom}' and ${inRange}`,
  ['listed.payload'],
  oldestFirst,
)

/** Listeners receive a changed message with each change of it. */
const signalsStatement = `
  select created_at, signal, is_followed from (${endedByBytes(
    `select entry.created_at, entry.signal, updated.payload as updated_payload, updated.metadata as updated_metadata
     from conversation_signals entry left join messages updated
       on entry.signal ->> 'type' = 'message_updated' and updated.id = entry.signal #>> '{data,id}' and updated.bot_id = entry.bot_id
     where ${inRange}`,
    ['listed.signal', 'listed.updated_payload', 'listed.updated_metadata'],
    oldestFirst,
  )}) page order by created_at`

type LoggedMessage = Pick<MessageRow, 'id' | 'type' | 'user_id' | 'direction' | 'payload' | 'metadata' | 'created_at'>
type LoggedEvent = Pick<EventRow, 'id' | 'user_id' | 'payload' | 'created_at'>

/**
 * Reads a log's entries after one time and up to another, which the log must have reached; oldest first. Of each kind there are
 * as many as `endedByBytes` bounds.
 */
export async function readLog(
  db: Database,
  where: { botId: string; conversationId: string },
  after: Date,
  until: Date,
): Promise<LogPage> {
  const bindings = { ...where, after, until }
  const [messages, events, signals] = await Promise.all([
    query<LoggedMessage & PageEnd>(db, messagesStatement, bindings),
    query<LoggedEvent & PageEnd>(db, eventsStatement, bindings),
    query<{ created_at: Date; signal: StoredSignal } & Pick<PageEnd, 'is_followed'>>(db, signalsStatement, bindings),
  ])
  const updated = await readUpdatedMessages(db, where, signals)
  const known = await externalUserIds(
    db,
    [...messages, ...updated.values(), ...events].flatMap(({ user_id: id }) => (id ? [id] : [])),
  )
  const { conversationId } = where
  const toKnown = (userId: string) => ({ conversationId, userId: known.get(userId) ?? userId })
  const entries: ReadEntry[] = [
    ...messages.map((row) => ({ at: row.created_at, signal: toMessageSignal(row, toKnown(row.user_id)) })),
    ...events.map((row) => ({ at: row.created_at, signal: toEventSignal(row, toKnown(row.user_id ?? '')) })),
    ...signals.flatMap(({ created_at: at, signal }) => {
      if (signal.type !== 'message_updated') return [{ at, signal }]
      const row = updated.get(signal.data.id)
      return row ? [{ at, signal: toMessageSignal(row, toKnown(row.user_id), 'message_updated') }] : []
    }),
  ].toSorted((a, b) => a.at.getTime() - b.at.getTime())

  const ends = [messages, events, signals].flatMap((rows) =>
    rows.length === batchSize || rows.at(-1)?.is_followed ? [rows.at(-1)!.created_at] : [],
  )
  const complete = new Date(Math.min(until.getTime(), ...ends.map((end) => end.getTime())))
  return { entries: entries.filter(({ at }) => at <= complete), until: complete }
}

/** The messages that updates name, by id; deleted ones are absent. */
async function readUpdatedMessages(
  db: Database,
  where: { botId: string; conversationId: string },
  signals: { signal: StoredSignal }[],
): Promise<Map<string, LoggedMessage>> {
  const ids = signals.flatMap(({ signal }) => (signal.type === 'message_updated' ? [signal.data.id] : []))
  if (ids.length === 0) return new Map()
  const rows = await query<LoggedMessage>(
    db,
    `select ${columnsOfMessages} from messages
     where bot_id = :botId and conversation_id = :conversationId and id = any(:ids)`,
    { ...where, ids },
  )
  return new Map(rows.map((row) => [row.id, row]))
}

function toMessageSignal(
  row: LoggedMessage,
  known: { conversationId: string; userId: string },
  type: 'message_created' | 'message_updated' = 'message_created',
): ChatSignal {
  return { type, data: { ...toMessage(row, known), isBot: row.direction === 'outgoing' } }
}

function toEventSignal(row: LoggedEvent, known: { conversationId: string; userId: string }): ChatSignal {
  return { type: 'event_created', data: { ...toChatEvent(row, known), isBot: false } }
}

/** Retention of entries without a row of their own, and of those among them that a webhook has still to receive. */
const [retentionPeriod, longestPeriod] = [`interval '1 day'`, `interval '30 days'`]

export async function deleteOldSignals(db: Database): Promise<void> {
  await query(
    db,
    `delete from conversation_signals entry where created_at < now() - ${retentionPeriod}
       and (created_at < now() - ${longestPeriod} or not exists (
         select from webhook_cursors where conversation_id = entry.conversation_id and delivered < entry.created_at
       ))`,
    {},
  )
}

/** The database's time. */
export async function readClock(db: Database): Promise<Date> {
  const [row] = await query<{ now: Date }>(db, `select clock_timestamp()::timestamptz(3) as now`, {})
  return row!.now
}
