import { page, toPage, type Page, type PageRequest } from './pagination.ts'
import type { MessageContent } from '../models/payload.ts'
import type { ChatSignal } from '../models/signal.ts'
import type { UserKey } from '../models/user-key.ts'
import {
  changeAndRecord,
  entryColumns,
  nextEntry,
  noteForWebhook,
  roomColumns,
  type EntryColumns,
  type LogEntry,
} from './conversation-log.ts'
import { query, type Database } from './database.ts'
import { journalBindings, journalInsert, newestRun, type NewJournalEntry } from './journal.ts'
import { keyBindings, keyHolder, externalConversation } from './external-ids.ts'
import type { MessageRow } from '../models/tables.ts'
import { deliveryInsert, incomingEventInsert, messageInsert, oneMessage } from './insert-rows.ts'

export interface NewMessage extends MessageContent {
  id: string
  botId: string
  metadata?: Record<string, unknown>
  tags?: Record<string, string>
  origin?: 'synthetic'
}

/** A message as it was stored, with its place in the conversation's log. */
export type StoredMessage = MessageRow & EntryColumns

/** A chat user's message: stored only when the user takes part in the conversation. */
export interface NewIncomingMessage extends NewMessage, UserKey {
  installationId: string
  /** The conversation by the id that the installation's clients know it by. */
  externalConversationId: string
  /** The event that the bot has to handle because of the message. */
  event: { id: string; type: string; integration: string }
}

/** The author is known only to the statement, which finds whose key it is. */
const chatMessage = { ...oneMessage, author: 'user_id' }
const received = { message: messageInsert(chatMessage, `'incoming'`), event: incomingEventInsert(chatMessage) }

/** Stores what somebody said together with the event it makes. Undefined when they take no part in the conversation. */
export async function insertIncomingMessage(
  db: Database,
  message: NewIncomingMessage,
): Promise<StoredMessage | undefined> {
  const [row] = await query<StoredMessage>(
    db,
    `with author as (select ${keyHolder} as id), conversation as (
       ${nextEntry}
       where id = (select ${externalConversation}) and bot_id = :botId
         and exists (
           select from participants where conversation_id = conversations.id and user_id = (select id from author)
         )
       returning ${roomColumns}, (select id from author) as user_id
     ), ${noteForWebhook}, message as (
       ${received.message}
     ), event as (
       ${received.event}
     )
     select message.*, ${entryColumns} from message, conversation`,
    {
      ...messageBindings(message),
      installationId: message.installationId,
      ...keyBindings(message),
      externalConversationId: message.externalConversationId,
      eventId: message.event.id,
      eventType: message.event.type,
      integration: message.event.integration,
    },
  )
  return row
}

export interface NewOutgoingMessage extends NewMessage {
  conversationId: string
  userId: string
  /** The id of the event that delivers it, when the conversation takes place on an installed integration. */
  deliveryId: string
}

/** What the bot has said, and whether an event has to deliver it. */
export type SaidMessage = StoredMessage & { has_delivery: boolean }

/** Where the deliveries of a conversation's messages wait, apart from what the bot has to handle. */
export function deliveryMailbox(conversationId: string): string {
  return `${conversationId}:out`
}

const said = { message: messageInsert(oneMessage, `'outgoing'`), delivery: deliveryInsert(oneMessage) }

/**
 * Stores what the bot says, and with it the effect of the run that says it and the event that delivers it, in one
 * statement. Undefined when the bot has no such conversation, or when the run is not its event's newest any more.
 *
 * @throws a unique violation when the effect is recorded already
 */
export async function insertOutgoingMessage(
  db: Database,
  message: NewOutgoingMessage,
  effect?: NewJournalEntry,
): Promise<SaidMessage | undefined> {
  const [row] = await query<SaidMessage>(
    db,
    `with conversation as (
       ${nextEntry}
       where id = :conversationId and bot_id = :botId ${effect ? `and exists (${newestRun})` : ''}
       returning ${roomColumns}
     ), ${noteForWebhook}${effect ? `, effect as (${journalInsert} from conversation)` : ''}, message as (
       ${said.message}
     ), delivery as (
       ${said.delivery}
     )
     select message.*, ${entryColumns}, exists (select from delivery) as has_delivery from message, conversation`,
    {
      ...messageBindings(message),
      conversationId: message.conversationId,
      userId: message.userId,
      deliveryId: message.deliveryId,
      deliveryMailbox: deliveryMailbox(message.conversationId),
      ...(effect && journalBindings(effect)),
    },
  )
  return row
}

/** What a statement needs that inserts a message. */
export function messageBindings(message: NewMessage) {
  return {
    id: message.id,
    botId: message.botId,
    type: message.type,
    payload: JSON.stringify(message.payload),
    metadata: message.metadata ? JSON.stringify(message.metadata) : null,
    tags: JSON.stringify(message.tags ?? {}),
    origin: message.origin ?? null,
  }
}

export async function findMessage(db: Database, botId: string, id: string): Promise<MessageRow | undefined> {
  return db('messages').where({ bot_id: botId, id }).first()
}

/** A message of an installation, and whether the user whose key it is has written it. */
export async function findAuthoredMessage(
  db: Database,
  { key, ...where }: { installationId: string; id: string; key: UserKey },
): Promise<(MessageRow & { is_author: boolean }) | undefined> {
  const [row] = await query<MessageRow & { is_author: boolean }>(
    db,
    `select messages.*, user_id is not distinct from (select ${keyHolder}) as is_author
     from messages join conversations on conversations.id = conversation_id
     where messages.id = :id and installation_id = :installationId`,
    { ...where, ...keyBindings(key) },
  )
  return row
}

/** Deletes a message, and records the signal that tells of it. Undefined when it is deleted already. */
export async function deleteMessage(
  db: Database,
  where: { botId: string; id: string },
  signal: ChatSignal,
): Promise<LogEntry | undefined> {
  const change = `delete from messages where bot_id = :botId and id = :id returning conversation_id`
  return changeAndRecord(db, change, { ...where }, signal)
}

/** One page of what was said in a conversation, newest first. */
export async function pageOfMessages(
  db: Database,
  where: { botId: string; conversationId: string },
  request: PageRequest,
): Promise<Page<MessageRow>> {
  const rows: MessageRow[] = await db('messages')
    .where({ bot_id: where.botId, conversation_id: where.conversationId })
    .modify((query) => page(query, request))
  return toPage(rows, request, (row) => ({ createdAt: row.created_at, id: row.id }))
}
