import { inboxStopped } from '../models/event.ts'
import type { HandoverRow, MessageRow } from '../models/tables.ts'
import { query, type Database } from './database.ts'
import { messageBatch, messageInsert } from './insert-rows.ts'

/**
 * The conversations of the built-in integration `inbox`. Each has one handover, which begins with it. Events of the
 * conversation reach the bot, whose plugin copies the messages; the conversation's row therefore does not name the handover.
 */

export interface NewSession {
  handoverId: string
  conversationId: string
  botId: string
  installationId: string
  channel: string
  /** The user for whom the bot writes. */
  userId: string
  title?: string | undefined
  description?: string | undefined
  expiresInSeconds?: number | undefined
  /** The event whose run begins it. */
  eventId?: string | undefined
  messages: PastMessage[]
}

/** A message of another conversation, which no code handles. */
export interface PastMessage extends Pick<MessageRow, 'id' | 'type' | 'payload' | 'metadata' | 'direction'> {
  user_id: string
}

const pastMessages = messageInsert({ ...messageBatch, content: pastContent }, 'direction')

function pastContent(column: 'type' | 'payload' | 'metadata' | 'tags' | 'origin'): string {
  if (column === 'tags') return `'{}'`
  return column === 'origin' ? 'null' : column
}

/** Stores a conversation with its past messages, participants and its handover, in a transaction. */
export async function insertSession(transaction: Database, { messages, ...session }: NewSession): Promise<void> {
  await query(
    transaction,
    `with conversation as (
       insert into conversations (id, bot_id, installation_id, owner_id, channel)
       values (:conversationId, :botId, :installationId, :userId, :channel)
     )
     insert into handovers (id, bot_id, conversation_id, status, title, description, requested_by, created_at, expires_at,
       event_id, source_conversation_id)
     values (:handoverId, :botId, :conversationId, 'pending', :title, :description, 'integration', clock_timestamp(),
       clock_timestamp() + :expiresInSeconds::double precision * interval '1 second', :eventId,
       (select conversation_id from events where id = :eventId))`,
    {
      ...session,
      title: session.title ?? null,
      description: session.description ?? null,
      expiresInSeconds: session.expiresInSeconds ?? null,
      eventId: session.eventId ?? null,
    },
  )
  const { conversationId, botId, userId } = session
  const authors = new Set([userId, ...messages.map((message) => message.user_id)])
  authors.delete(botId)
  await query(
    transaction,
    `insert into participants (conversation_id, user_id, bot_id)
     select :conversationId, author, :botId from unnest(:authors::text[]) author`,
    { conversationId, botId, authors: [...authors] },
  )
  if (messages.length === 0) return
  // They precede the conversation's own messages, a millisecond apart.
  await query(
    transaction,
    `with placed as (
       select id as message_id, :conversationId::text as conversation_id, :botId::text as bot_id, user_id, type, payload,
         metadata, direction, now() - (:count::integer - ordinal + 1) * interval '1 millisecond' as at
       from jsonb_to_recordset(:messages::jsonb)
         as given (ordinal integer, id text, user_id text, type text, payload jsonb, metadata jsonb, direction text)
     ) ${pastMessages}`,
    {
      conversationId,
      botId,
      count: messages.length,
      messages: JSON.stringify(messages.map((message, index) => ({ ...message, ordinal: index + 1 }))),
    },
  )
}

/** Which of the given users an installation on a bot has. */
export async function findUsersOf(
  db: Database,
  where: { botId: string; installationId: string },
  ids: string[],
): Promise<Set<string>> {
  const rows = await db('users')
    .where({ bot_id: where.botId, installation_id: where.installationId })
    .whereIn('id', ids)
    .select('id')
  return new Set(rows.map(({ id }) => id))
}

/** The handover of a conversation of the inbox; the newest, should there be several. */
export async function findSession(
  db: Database,
  where: { botId: string; installationId: string; conversationId: string },
): Promise<Pick<HandoverRow, 'id' | 'ended_at'> | undefined> {
  const [row] = await query<Pick<HandoverRow, 'id' | 'ended_at'>>(
    db,
    `select handovers.id, ended_at from handovers join conversations on conversations.id = conversation_id
     where conversation_id = :conversationId and handovers.bot_id = :botId and installation_id = :installationId
       and requested_by = 'integration'
     order by handovers.created_at desc limit 1`,
    where,
  )
  return row
}

/**
 * Whether an installation of the inbox has a session in progress, or one of whose end the bot has not learnt: a plugin of the bot
 * would take it to be in progress for ever.
 */
export async function hasSessions(db: Database, installationId: string): Promise<boolean> {
  const [row] = await query<{ has: boolean }>(
    db,
    `select exists (
       select from conversations join handovers on handovers.conversation_id = conversations.id
       where installation_id = :installationId and (ended_at is null or exists (
         select from events where events.mailbox = conversations.id and type = '${inboxStopped}' and status = 'pending'
       ))
     ) as has`,
    { installationId },
  )
  return row!.has
}
