import { endedByBytes } from './page-bytes.ts'
import { toPage, type Page, type PageRequest } from './pagination.ts'
import type { MessageContent } from '../models/payload.ts'
import type { ChatSignal } from '../models/signal.ts'
import type { UserKey } from '../models/user-key.ts'
import {
  changeAndRecord,
  entryColumns,
  isOfBot,
  nextMessage,
  webhookCursorUpsert,
  conversationColumns,
  type EntryColumns,
  type LogEntry,
} from './conversation-log.ts'
import { query, type Database } from './database.ts'
import { journalBindings, journalInsert, newestRun, type NewJournalEntry } from './journal.ts'
import { keyBindings, keyHolder, externalConversation } from './external-ids.ts'
import { largestNotification } from './sql.ts'
import type { MessageRow } from '../models/tables.ts'
import { deliveryInsert, incomingEventInsert, messageInsert, oneMessage } from './insert-rows.ts'

export interface NewMessage extends MessageContent {
  id: string
  botId: string
  metadata?: Record<string, unknown>
  tags?: Record<string, string>
  origin?: 'synthetic'
}

/** A stored message, with its position in the conversation's log. */
export type StoredMessage = MessageRow & EntryColumns

/** A chat user's message, stored only when the user is a participant of the conversation. */
export interface NewIncomingMessage extends NewMessage, UserKey {
  installationId: string
  /** The conversation's id for clients of the installation. */
  externalConversationId: string
  /** The event that makes the bot handle the message. */
  event: { id: string; type: string; integration: string }
}

/** The author is determined within the statement, from the key. */
const chatMessage = { ...oneMessage, author: 'user_id' }
const received = { message: messageInsert(chatMessage, `'incoming'`), event: incomingEventInsert(chatMessage) }

const incomingStatement = `
  with author as (select ${keyHolder} as id), conversation as (
    ${nextMessage}
    where id = (select ${externalConversation}) and ${isOfBot}
      and exists (
        select from participants where conversation_id = conversations.id and user_id = (select id from author)
      )
    returning ${conversationColumns}, (select id from author) as user_id
  ), ${webhookCursorUpsert}, message as (
    ${received.message}
  ), event as (
    ${received.event}
  )
  select message.*, ${entryColumns} from message, conversation`

/** Stores a user's message with its event. Undefined when the user is not a participant of the conversation. */
export async function insertIncomingMessage(
  db: Database,
  message: NewIncomingMessage,
): Promise<StoredMessage | undefined> {
  const [row] = await query<StoredMessage>(db, incomingStatement, {
    ...messageBindings(message),
    installationId: message.installationId,
    ...keyBindings(message),
    externalConversationId: message.externalConversationId,
    eventId: message.event.id,
    eventType: message.event.type,
    integration: message.event.integration,
  })
  return row
}

export interface NewOutgoingMessage extends NewMessage {
  conversationId: string
  userId: string
  /** The id of the delivery event, which is stored when the conversation belongs to an installed integration. */
  deliveryId: string
  /** The signal to the conversation's listeners, without the position, if the statement may send it. */
  announcement?: { channel: string; signal: ChatSignal }
}

/** A bot's stored message, whether a delivery event was stored, and whether the statement has announced the message. */
export type StoredOutgoingMessage = StoredMessage & { has_delivery: boolean; is_announced?: boolean }

/** The mailbox of a conversation's delivery events, apart from the events that the bot handles. */
export function deliveryMailbox(conversationId: string): string {
  return `${conversationId}:out`
}

const said = { message: messageInsert(oneMessage, `'outgoing'`), delivery: deliveryInsert(oneMessage) }

/**
 * SQL that announces the message, as `publishEntry` does, in the form of `Announcement`: the notification leaves with the
 * commit, and costs no further round trip. Only for single messages, because commits that notify wait for each other.
 */
const notification = `
  announced as (
    select pg_notify(:channel, text) from (
      select jsonb_build_object(
        'sequence', sequence, 'at', (extract(epoch from clock) * 1000)::bigint,
        'signal', jsonb_set(
          :signal, '{data,createdAt}', to_jsonb(to_char(clock at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
        )
      )::text as text
      from conversation
    ) announcement
    where octet_length(text) <= ${largestNotification} and not exists (select from delivery)
  )`

/** SQL that stores a bot's message, with or without the run's journal entry and the notification. */
function outgoingStatement(has: { effect: boolean; announcement: boolean }): string {
  return `
    with conversation as (
      ${nextMessage}
      where id = :conversationId and ${isOfBot} ${has.effect ? `and exists (${newestRun})` : ''}
      returning ${conversationColumns}
    ), ${webhookCursorUpsert}${has.effect ? `, effect as (${journalInsert} from conversation)` : ''}, message as (
      ${said.message}
    ), delivery as (
      ${said.delivery}
    )${has.announcement ? `, ${notification}` : ''}
    select message.*, ${entryColumns}, exists (select from delivery) as has_delivery,
      ${has.announcement ? 'exists (select from announced)' : 'false'} as is_announced
    from message, conversation`
}

const outgoingStatements = {
  recorded: {
    announced: outgoingStatement({ effect: true, announcement: true }),
    silent: outgoingStatement({ effect: true, announcement: false }),
  },
  unrecorded: {
    announced: outgoingStatement({ effect: false, announcement: true }),
    silent: outgoingStatement({ effect: false, announcement: false }),
  },
}

/**
 * Stores a bot's message with the run's journal entry and the delivery event, in one statement. Undefined when the bot
 * has no such conversation, or when the run is no longer its event's newest.
 *
 * @throws a unique violation when the call is recorded already
 */
export async function insertOutgoingMessage(
  db: Database,
  message: NewOutgoingMessage,
  effect?: NewJournalEntry,
): Promise<StoredOutgoingMessage | undefined> {
  const { announcement } = message
  const statements = outgoingStatements[effect ? 'recorded' : 'unrecorded']
  const [row] = await query<StoredOutgoingMessage>(db, statements[announcement ? 'announced' : 'silent'], {
    ...messageBindings(message),
    conversationId: message.conversationId,
    userId: message.userId,
    deliveryId: message.deliveryId,
    deliveryMailbox: deliveryMailbox(message.conversationId),
    ...(effect && journalBindings(effect)),
    ...(announcement && { channel: announcement.channel, signal: JSON.stringify(announcement.signal) }),
  })
  return row
}

/** The bindings of a statement that inserts a message. */
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

/** A message of an installation, and whether the key's user is its author. */
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

/** Deletes a message and records the signal. Undefined when the message does not exist. */
export async function deleteMessage(
  db: Database,
  where: { botId: string; id: string },
  signal: ChatSignal,
): Promise<LogEntry | undefined> {
  const change = `delete from messages where bot_id = :botId and id = :id returning conversation_id`
  return changeAndRecord(db, change, { ...where }, signal)
}

/** The columns of messages that may be large. */
export const largeOfMessages = ['listed.payload', 'listed.metadata', 'listed.tags']

function pageStatement(condition: string): string {
  return endedByBytes(
    `select * from messages where bot_id = :botId and conversation_id = :conversationId ${condition}
     order by created_at desc, id desc limit :limit`,
    largeOfMessages,
  )
}

const pageStatements = {
  first: pageStatement(''),
  further: pageStatement('and (created_at, id) < (:afterTime, :afterId)'),
}

/** One page of a conversation's messages, newest first. */
export async function pageOfMessages(
  db: Database,
  where: { botId: string; conversationId: string },
  request: PageRequest,
): Promise<Page<MessageRow>> {
  const { after, limit } = request
  const position = after && { afterTime: after.createdAt, afterId: after.id }
  const rows = await query<MessageRow>(db, pageStatements[position ? 'further' : 'first'], {
    ...where,
    ...position,
    limit: limit + 1,
  })
  return toPage(rows, request, (row) => ({ createdAt: row.created_at, id: row.id }))
}
