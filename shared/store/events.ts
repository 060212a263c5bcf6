import type { Knex } from 'knex'
import { boundedPage } from './bounded-page.ts'
import { readPage } from './page-bytes.ts'
import { page, toPage, type Page, type PageRequest } from './pagination.ts'
import { newId } from '../ids.ts'
import { actionTriggered, register } from '../models/event.ts'
import {
  entryColumns,
  isOfBot,
  nextClock,
  nextEntry,
  webhookCursorUpsert,
  conversationColumns,
  type EntryColumns,
} from './conversation-log.ts'
import { query, type Database } from './database.ts'
import type { EventRow, EventStatus } from '../models/tables.ts'
import { eventInsert } from './insert-rows.ts'

export interface NewEvent {
  id: string
  botId: string
  type: string
  payload: Record<string, unknown>
  userId?: string
  messageId?: string
  integration?: string
  /** The installation of the integration whose code handles the event; by default the bot's own code handles it. */
  installationId?: string
  workflowId?: string
  /** `outgoing` for a message of the bot; by default `incoming`. */
  direction?: EventRow['direction']
}

/** The event's columns as the parameters of `bindings`. */
const given = {
  id: ':id',
  user_id: ':userId',
  message_id: ':messageId',
  integration: ':integration',
  installation_id: ':installationId',
  workflow_id: ':workflowId',
  type: ':type',
  direction: ':direction',
  payload: ':payload',
}
const inConversation = eventInsert({
  ...given,
  bot_id: 'bot_id',
  mailbox: 'id',
  conversation_id: 'id',
  created_at: 'clock',
})
/** The default time is that at which the transaction began, before it waited for the rows of others. */
const inMailbox = eventInsert({ ...given, bot_id: ':botId', mailbox: ':mailbox', created_at: 'clock_timestamp()' })
const scheduled = eventInsert({
  ...given,
  bot_id: 'bots.id',
  mailbox: 'coalesce(:conversationId, :id)',
  conversation_id: ':conversationId',
  status: `'scheduled'`,
  available_at: ':dueAt',
})

/** Stores an event of a conversation, after all its earlier rows. Undefined when there is no such conversation. */
export async function insertConversationEvent(
  db: Database,
  event: NewEvent & { conversationId: string },
): Promise<EventRow | undefined> {
  const [row] = await query<EventRow>(
    db,
    `with conversation as (
       ${nextClock} where id = :conversationId and ${isOfBot}
       returning id, bot_id, clock
     )
     ${inConversation} from conversation
     returning *`,
    { ...bindings(event), conversationId: event.conversationId },
  )
  return row
}

/** As `insertConversationEvent`, for an event of a chat user, which is also an entry of the conversation's log. */
export async function insertChatEvent(
  db: Database,
  event: NewEvent & { conversationId: string },
): Promise<(EventRow & EntryColumns) | undefined> {
  const [row] = await query<EventRow & EntryColumns>(
    db,
    `with conversation as (
       ${nextEntry} where id = :conversationId and ${isOfBot} returning ${conversationColumns}
     ), ${webhookCursorUpsert}, event as (
       ${inConversation} from conversation returning *
     )
     select event.*, ${entryColumns} from event, conversation`,
    { ...bindings(event), conversationId: event.conversationId },
  )
  return row
}

/**
 * Stores an event without a conversation.
 *
 * @param event by default its mailbox is its own id
 */
export async function insertEvent(db: Database, event: NewEvent & { mailbox?: string }): Promise<EventRow> {
  const [row] = await query<EventRow>(db, `${inMailbox} returning *`, {
    ...bindings(event),
    mailbox: event.mailbox ?? event.id,
  })
  if (!row) throw new Error('The inserted event was not returned')
  return row
}

/** Stores the event that calls a bot's own `register`; only the code of a bundle knows whether it has one. */
export async function insertBotRegistration(db: Database, botId: string): Promise<EventRow> {
  return insertEvent(db, { id: newId('evt'), botId, type: register, payload: {} })
}

/** Stores an event for a later time. Undefined when the bot has no such conversation. */
export async function insertScheduledEvent(
  db: Database,
  event: NewEvent & { conversationId?: string | undefined; dueAt: Date },
): Promise<EventRow | undefined> {
  const [row] = await query<EventRow>(
    db,
    `${scheduled}
     from bots
     where id = :botId
       and (:conversationId::text is null
         or exists (select from conversations where bot_id = :botId and id = :conversationId))
     returning *`,
    { ...bindings(event), conversationId: event.conversationId ?? null, dueAt: event.dueAt },
  )
  return row
}

function bindings(event: NewEvent) {
  return {
    id: event.id,
    botId: event.botId,
    type: event.type,
    direction: event.direction ?? 'incoming',
    payload: JSON.stringify(event.payload),
    userId: event.userId ?? null,
    messageId: event.messageId ?? null,
    integration: event.integration ?? null,
    installationId: event.installationId ?? null,
    workflowId: event.workflowId ?? null,
  }
}

export async function findEvent(db: Database, botId: string, id: string): Promise<EventRow | undefined> {
  return db('events').where({ bot_id: botId, id }).first()
}

/** Selects events: all that the bot's code handles, or those that one integration created. */
export interface EventsOf {
  botId: string
  /** The integration, and the prefix of its event types on this bot. */
  madeBy?: { integration: string; typePrefix: string }
}

export interface EventFilter {
  type?: string | undefined
  conversationId?: string | undefined
  userId?: string | undefined
  messageId?: string | undefined
  workflowId?: string | undefined
  status?: EventStatus | undefined
}

/** Finds one of the visible events. */
export async function findVisibleEvent(db: Database, of: EventsOf, id: string): Promise<EventRow | undefined> {
  return visibleEvents(db, of).where({ id }).first()
}

/** The columns of events that may be large. */
export const largeOfEvents = ['listed.payload', 'listed.result', 'listed.runs']

/**
 * One page of the visible events, newest first. It reads a bounded number of events: with a filter that few events pass, it may
 * have few, and still a token.
 */
export async function pageOfEvents(
  db: Database,
  of: EventsOf,
  { conversationId, status, type, userId, messageId, workflowId }: EventFilter,
  request: PageRequest,
): Promise<Page<EventRow>> {
  const others = { type, user_id: userId, message_id: messageId, workflow_id: workflowId, status }
  const given = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== undefined))
  const passing = (rows: Knex.QueryBuilder) => void rows.where(given).modify(visible, of)
  const few = fewEvents(db, conversationId, status)
  if (!few) {
    const within = (rows: Knex.QueryBuilder) => void rows.where({ bot_id: of.botId })
    return boundedPage(db, { table: 'events', parts: [within], passing, large: largeOfEvents }, request)
  }
  const read = db
    .from(few.as('events'))
    .where({ bot_id: of.botId })
    .modify(passing)
    .modify((builder) => page(builder, request))
  const rows = await readPage<EventRow>(db, read, largeOfEvents)
  return toPage(rows, request, (row) => ({ createdAt: row.created_at, id: row.id }))
}

/**
 * The events that an index of their own finds, to be sorted. A subquery with an offset is planned apart: plans are made for no
 * values, and would begin with all events of the bot.
 */
function fewEvents(db: Database, conversationId: string | undefined, status: EventStatus | undefined) {
  const events = db('events').offset(db.raw('0') as unknown as number)
  if (conversationId !== undefined) return events.where({ conversation_id: conversationId })
  // Not a binding: the indexes are for events of these statuses.
  if (status === 'pending') return events.whereRaw(`status = 'pending'`)
  return status === 'scheduled' ? events.whereRaw(`status = 'scheduled'`) : undefined
}

/** The user of an event; undefined when it has none, or is gone. */
export async function findUserOfEvent(db: Database, id: string): Promise<string | undefined> {
  const [row] = await query<Pick<EventRow, 'user_id'>>(db, 'select user_id from events where id = :id', { id })
  return row?.user_id ?? undefined
}

/**
 * Events for an integration's code (webhooks, registrations) may contain secrets of third parties, and are hidden from
 * the bot.
 */
function visibleEvents(db: Database, of: EventsOf) {
  return db('events').where({ bot_id: of.botId }).modify(visible, of)
}

function visible(events: Knex.QueryBuilder, { madeBy }: EventsOf): void {
  if (madeBy) {
    void events.where({ integration: madeBy.integration }).whereRaw('starts_with(type, ?)', [madeBy.typePrefix])
  } else void events.where((builder) => builder.whereNull('installation_id').orWhere({ type: actionTriggered }))
}
