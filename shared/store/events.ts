import { entryColumns, nextEntry, noteForWebhook, roomColumns, type EntryColumns } from './conversation-log.ts'
import { query, type Database } from './database.ts'
import type { EventRow } from './tables.ts'

export interface NewEvent {
  id: string
  botId: string
  type: string
  payload: Record<string, unknown>
  userId?: string
  messageId?: string
  integration?: string
}

/** Stores an event of a conversation, after all that was said there before. Undefined when there is no such conversation. */
export async function insertConversationEvent(
  db: Database,
  event: NewEvent & { conversationId: string },
): Promise<EventRow | undefined> {
  const [row] = await query<EventRow>(
    db,
    `with conversation as (
       update conversations set clock = greatest(clock_timestamp(), clock + interval '1 millisecond')
       where id = :conversationId and bot_id = :botId
       returning id, bot_id, clock
     )
     insert into events (id, bot_id, mailbox, conversation_id, user_id, message_id, integration, type, payload, created_at)
     select :id, bot_id, id, id, :userId, :messageId, :integration, :type, :payload, clock from conversation
     returning *`,
    { ...bindings(event), conversationId: event.conversationId },
  )
  return row
}

/** Stores an event that a chat user made, which is an entry of the conversation's log. Otherwise like the above. */
export async function insertChatEvent(
  db: Database,
  event: NewEvent & { conversationId: string },
): Promise<(EventRow & EntryColumns) | undefined> {
  const [row] = await query<EventRow & EntryColumns>(
    db,
    `with conversation as (
       ${nextEntry} where id = :conversationId and bot_id = :botId returning ${roomColumns}
     ), ${noteForWebhook}, event as (
       insert into events (id, bot_id, mailbox, conversation_id, user_id, message_id, integration, type, payload, created_at)
       select :id, bot_id, id, id, :userId, :messageId, :integration, :type, :payload, clock from conversation
       returning *
     )
     select event.*, ${entryColumns} from event, conversation`,
    { ...bindings(event), conversationId: event.conversationId },
  )
  return row
}

/** Stores an event that belongs to no conversation; it is a mailbox of its own. */
export async function insertEvent(db: Database, event: NewEvent): Promise<EventRow> {
  const [row] = await query<EventRow>(
    db,
    `insert into events (id, bot_id, mailbox, user_id, message_id, integration, type, payload)
     values (:id, :botId, :id, :userId, :messageId, :integration, :type, :payload)
     returning *`,
    bindings(event),
  )
  if (!row) throw new Error('The inserted event was not returned')
  return row
}

function bindings(event: NewEvent) {
  return {
    id: event.id,
    botId: event.botId,
    type: event.type,
    payload: JSON.stringify(event.payload),
    userId: event.userId ?? null,
    messageId: event.messageId ?? null,
    integration: event.integration ?? null,
  }
}

export async function findEvent(db: Database, botId: string, id: string): Promise<EventRow | undefined> {
  return db('events').where({ bot_id: botId, id }).first()
}
