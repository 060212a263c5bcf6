import type { EventRow, MessageRow } from '../models/tables.ts'

/** SQL expressions for a row's columns; omitted columns get their default. */
type Values<Row, Required extends keyof Row> = Record<Required, string> & Partial<Record<keyof Row, string>>

/** SQL that inserts events, up to the `from` that determines their number. */
export function eventInsert(values: Values<EventRow, 'id' | 'bot_id' | 'mailbox' | 'type' | 'payload'>): string {
  return `insert into events (${Object.keys(values).join(', ')}) select ${Object.values(values).join(', ')}`
}

/** SQL expressions for the columns of a message and its events, and the `from` that they refer to. */
export interface MessageSource {
  id: string
  conversation: string
  author: string
  /** The sender's value for a column. */
  content(column: 'type' | 'payload' | 'metadata' | 'tags' | 'origin'): string
  at: string
  from: string
  /** The event that makes the bot handle the message. */
  event: { id: string; type: string; integration: string }
  /** The event that delivers the message to the integration. */
  delivery: { id: string; mailbox: string }
}

/** One message: its values are bindings, and `conversation` is the row whose log it enters. */
export const oneMessage: MessageSource = {
  id: ':id',
  conversation: 'id',
  author: ':userId',
  content: (column) => `:${column}`,
  at: 'clock',
  from: 'conversation',
  event: { id: ':eventId', type: ':eventType', integration: ':integration' },
  delivery: { id: ':deliveryId', mailbox: ':deliveryMailbox' },
}

/** Several messages: each is a row of `placed`. */
export const messageBatch: MessageSource = {
  id: 'message_id',
  conversation: 'conversation_id',
  author: 'user_id',
  content: (column) => column,
  at: 'at',
  from: 'placed',
  event: { id: 'event_id', type: 'event_type', integration: 'integration' },
  delivery: { id: 'delivery_id', mailbox: 'delivery_mailbox' },
}

/** SQL that inserts messages and returns their rows. */
export function messageInsert(source: MessageSource, direction: string): string {
  const values: Record<keyof MessageRow, string> = {
    id: source.id,
    bot_id: 'bot_id',
    conversation_id: source.conversation,
    user_id: source.author,
    type: source.content('type'),
    payload: source.content('payload'),
    metadata: source.content('metadata'),
    tags: source.content('tags'),
    direction,
    origin: source.content('origin'),
    created_at: source.at,
    updated_at: source.at,
  }
  return `insert into messages (${Object.keys(values).join(', ')}) select ${Object.values(values).join(', ')}
    from ${source.from} returning *`
}

/** SQL that inserts the events that make the bot handle messages. */
export function incomingEventInsert({ id, conversation, author, event, at, from }: MessageSource): string {
  return `${eventInsert({
    id: event.id,
    bot_id: 'bot_id',
    mailbox: conversation,
    conversation_id: conversation,
    user_id: author,
    message_id: id,
    integration: event.integration,
    type: event.type,
    payload: `'{}'`,
    created_at: at,
  })} from ${from}`
}

/**
 * SQL for a `from`: the conversation's installed integration, if it has one. `offset 0` makes the planner look it up by
 * id; it would otherwise scan all installations.
 */
const installed = (of: string) => `lateral (
  select integration from (
    select integration, integration_id from installations where installations.id = ${of}.installation_id offset 0
  ) named where integration_id is not null
) installed`

/** SQL that inserts the delivery events of messages whose conversation belongs to an installed integration. */
export function deliveryInsert({ id, conversation, author, delivery, at, from }: MessageSource): string {
  return `${eventInsert({
    id: delivery.id,
    bot_id: 'bot_id',
    mailbox: delivery.mailbox,
    conversation_id: conversation,
    user_id: author,
    message_id: id,
    integration: 'integration',
    installation_id: 'installation_id',
    type: `'message_created'`,
    direction: `'outgoing'`,
    payload: `'{}'`,
    created_at: at,
  })} from ${from}, ${installed(from)} returning message_id`
}
