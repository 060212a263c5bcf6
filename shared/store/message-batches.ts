import { batchedByLoad } from '../batch.ts'
import { hasWebhook } from './conversation-log.ts'
import type { Database } from './database.ts'
import { query } from './database.ts'
import type { NewJournalEntry } from './journal.ts'
import { deliveryInsert, incomingEventInsert, messageBatch, messageInsert } from './insert-rows.ts'
import { holderOf, keyBindings, ownId } from './external-ids.ts'
import {
  deliveryMailbox,
  insertIncomingMessage,
  insertOutgoingMessage,
  type NewIncomingMessage,
  type NewMessage,
  type NewOutgoingMessage,
  type StoredOutgoingMessage,
  type StoredMessage,
} from './messages.ts'

/**
 * Stores messages of many conversations in one statement, which costs the database half as much as separate statements.
 * The statement skips conversations that another transaction has locked, so that a long lock delays no other
 * conversation. Messages that it did not store are then stored one by one, which also finds the cause of a refusal.
 */

/** Upper bound of messages per statement. */
const batchSize = 50

/** A bot's message, and the journal entry of the call that sends it. */
export interface OutgoingInsert {
  message: NewOutgoingMessage
  effect: NewJournalEntry | undefined
}

interface Batches {
  receive(message: NewIncomingMessage): Promise<StoredMessage | undefined>
  send(insert: OutgoingInsert): Promise<StoredOutgoingMessage | undefined>
}

const batchesOf = new WeakMap<Database, Batches>()

/**
 * Stores a user's message, in a batch with concurrent ones; within a transaction without a batch. Otherwise as
 * `insertIncomingMessage`.
 */
export async function storeIncoming(db: Database, message: NewIncomingMessage): Promise<StoredMessage | undefined> {
  return db.isTransaction ? insertIncomingMessage(db, message) : batchesFor(db).receive(message)
}

/** Stores a bot's message, in a batch likewise. Otherwise as `insertOutgoingMessage`. */
export async function storeOutgoing(
  db: Database,
  message: NewOutgoingMessage,
  effect?: NewJournalEntry,
): Promise<StoredOutgoingMessage | undefined> {
  return db.isTransaction ? insertOutgoingMessage(db, message, effect) : batchesFor(db).send({ message, effect })
}

function batchesFor(db: Database): Batches {
  const known = batchesOf.get(db)
  if (known) return known
  const batches: Batches = {
    receive: batchedWith(
      (messages) => insertIncomingMessages(db, messages),
      (message: NewIncomingMessage) => insertIncomingMessage(db, message),
      (message) => message,
    ),
    send: batchedWith(
      (inserts) => insertOutgoingMessages(db, inserts),
      ({ message, effect }: OutgoingInsert) => insertOutgoingMessage(db, message, effect),
      ({ message }) => message,
    ),
  }
  batchesOf.set(db, batches)
  return batches
}

/** A single message is stored by the statement for one, which is shorter. */
function batchedWith<Input, Row extends { id: string }>(
  storeMany: (inputs: Input[]) => Promise<Row[]>,
  storeOne: (input: Input) => Promise<Row | undefined>,
  messageOf: (input: Input) => NewMessage,
): (input: Input) => Promise<Row | undefined> {
  const storeSome = async (inputs: Input[]): Promise<(() => Promise<Row | undefined>)[]> => {
    if (inputs.length === 1) {
      const row = await storeOne(inputs[0]!)
      return [async () => row]
    }
    const rows = new Map((await storeMany(inputs)).map((row) => [row.id, row]))
    return inputs.map((input) => async () => rows.get(messageOf(input).id) ?? storeOne(input))
  }
  const store = batchedByLoad(storeSome, batchSize, (input) => messageOf(input).botId)
  // Messages that the statement skipped are stored after the batch, so that the next batch does not wait for them.
  return async (input) => (await store(input))()
}

/**
 * SQL that allocates the position of each message in its conversation's log, consecutive for messages of one
 * conversation. Reads `sent (conversation_id, bot_id, ordinal, …)`, and defines `placed`, with these columns, `at`,
 * `entry` and columns of the conversation.
 */
const allocateEntries = `
  turned as (
    select sent.*, (row_number() over (partition by conversation_id order by ordinal))::integer as turn,
      (count(*) over (partition by conversation_id))::integer as turns
    from sent
  ), free as (
    select id from conversations where id = any(array(select conversation_id from sent)) order by id
    for no key update skip locked
  ), conversation as (
    update conversations
    set clock = greatest(clock_timestamp(), clock + interval '1 millisecond') + (turns - 1) * interval '1 millisecond',
      sequence = sequence + turns, messaged_at = clock_timestamp()
    from free join turned on turned.conversation_id = free.id and turn = 1
    where conversations.id = free.id and conversations.id = any(array(select id from free))
      and conversations.bot_id = turned.bot_id
    returning conversations.id, conversations.bot_id, installation_id, clock, sequence, turns
  ), webhook as (
    insert into webhook_cursors (conversation_id, bot_id, delivered, latest)
    select conversation.id, conversation.bot_id, clock - turns * interval '1 millisecond', clock
    from conversation where ${hasWebhook}
    on conflict (conversation_id) do update set latest = excluded.latest
    returning conversation_id
  ), placed as (
    select turned.*, installation_id, clock - (turned.turns - turn) * interval '1 millisecond' as at,
      sequence - (turned.turns - turn) as entry,
      exists (select from webhook where webhook.conversation_id = conversation.id) as has_webhook
    from turned join conversation on conversation.id = turned.conversation_id
  )`

const storedColumns = `placed.entry as sequence, placed.at as clock, placed.has_webhook`

/** SQL for the holder of the key of each `given` message. */
const author = holderOf({
  installation: 'given.installation_id',
  known: 'given.known_user_id',
  id: 'given.holder_id',
  name: 'given.holder_name',
  issuedAt: 'given.key_issued_at',
})
const conversation = ownId('conversations', {
  installation: 'given.installation_id',
  known: 'given.known_conversation_id',
})

const received = { messages: messageInsert(messageBatch, `'incoming'`), events: incomingEventInsert(messageBatch) }

async function insertIncomingMessages(db: Database, messages: NewIncomingMessage[]): Promise<StoredMessage[]> {
  return query<StoredMessage>(
    db,
    `with known as materialized (
       select given.*, ${author} as user_id, ${conversation} as conversation_id
       from rows from (jsonb_to_recordset(:messages) as (
         id text, bot_id text, type text, payload jsonb, metadata jsonb, tags jsonb, origin text, installation_id text,
         known_user_id text, holder_id text, holder_name text, key_issued_at timestamptz,
         known_conversation_id text, event_id text, event_type text, integration text
       )) with ordinality as given (
         id, bot_id, type, payload, metadata, tags, origin, installation_id, known_user_id, holder_id, holder_name,
         key_issued_at, known_conversation_id, event_id, event_type, integration, ordinal
       )
     ), sent as (
       select id as message_id, bot_id, conversation_id, user_id, type, payload, metadata, tags, origin, event_id,
         event_type, integration, ordinal
       from known
       where exists (
         select from participants
         where participants.conversation_id = known.conversation_id and participants.user_id = known.user_id
       )
     ), ${allocateEntries}, message as (
       ${received.messages}
     ), event as (
       ${received.events}
     )
     select message.*, ${storedColumns} from message join placed on message_id = message.id`,
    {
      messages: JSON.stringify(
        messages.map((message) => {
          const { externalUserId, holderId, holderName, keyIssuedAt } = keyBindings(message)
          return {
            ...columnsOf(message),
            installation_id: message.installationId,
            known_user_id: externalUserId,
            holder_id: holderId,
            holder_name: holderName,
            key_issued_at: keyIssuedAt,
            known_conversation_id: message.externalConversationId,
            event_id: message.event.id,
            event_type: message.event.type,
            integration: message.event.integration,
          }
        }),
      ),
    },
  )
}

const sent = { messages: messageInsert(messageBatch, `'outgoing'`), deliveries: deliveryInsert(messageBatch) }

async function insertOutgoingMessages(db: Database, inserts: OutgoingInsert[]): Promise<StoredOutgoingMessage[]> {
  return query<StoredOutgoingMessage>(
    db,
    `with sent as (
       select id as message_id, bot_id, conversation_id, user_id, type, payload, metadata, tags, origin, delivery_id,
         delivery_mailbox, effect_event_id, effect_operation, effect_ordinal, effect_input_hash, effect_result, ordinal
       from rows from (jsonb_to_recordset(:inserts) as (
         id text, bot_id text, type text, payload jsonb, metadata jsonb, tags jsonb, conversation_id text, user_id text,
         origin text, delivery_id text, delivery_mailbox text, effect_event_id text, effect_attempt integer,
         effect_operation text, effect_ordinal integer, effect_input_hash text, effect_result jsonb
       )) with ordinality as given (
         id, bot_id, type, payload, metadata, tags, conversation_id, user_id, origin, delivery_id, delivery_mailbox,
         effect_event_id, effect_attempt, effect_operation, effect_ordinal, effect_input_hash, effect_result, ordinal
       )
       where effect_event_id is null
         or effect_attempt = (select attempt from events where events.id = effect_event_id and ended_at is null)
     ), ${allocateEntries}, effect as (
       insert into effects (event_id, operation, ordinal, input_hash, result)
       select effect_event_id, effect_operation, effect_ordinal, effect_input_hash, coalesce(effect_result, 'null')
       from placed where effect_event_id is not null
     ), message as (
       ${sent.messages}
     ), delivery as (
       ${sent.deliveries}
     )
     select message.*, ${storedColumns},
       exists (select from delivery where delivery.message_id = message.id) as has_delivery
     from message join placed on placed.message_id = message.id`,
    {
      inserts: JSON.stringify(
        inserts.map(({ message, effect }) => ({
          ...columnsOf(message),
          conversation_id: message.conversationId,
          user_id: message.userId,
          delivery_id: message.deliveryId,
          delivery_mailbox: deliveryMailbox(message.conversationId),
          ...(effect && {
            effect_event_id: effect.eventId,
            effect_attempt: effect.attempt,
            effect_operation: effect.operation,
            effect_ordinal: effect.ordinal,
            effect_input_hash: effect.inputHash,
            effect_result: effect.result ?? null,
          }),
        })),
      ),
    },
  )
}

function columnsOf({ id, botId, type, payload, metadata, tags, origin }: NewMessage) {
  return { id, bot_id: botId, type, payload, metadata, tags: tags ?? {}, origin }
}
