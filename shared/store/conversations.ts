import { largeOfTagged, readPage } from './page-bytes.ts'
import { page, toPage, type Page, type PageRequest } from './pagination.ts'
import type { ChatSignal } from '../models/signal.ts'
import type { UserKey } from '../models/user-key.ts'
import { newId } from '../ids.ts'
import { changeAndRecord, type LogEntry } from './conversation-log.ts'
import { startedInsert } from './conversation-started.ts'
import { query, transact, type Database } from './database.ts'
import { deleteRowsOfConversations } from './delete-rows.ts'
import { keyBindings, keyHolder, externalConversation, externalUser } from './external-ids.ts'
import type { ConversationRow, InstallationRow, UserRow } from '../models/tables.ts'

export interface NewConversation {
  id: string
  botId: string
  installationId: string
  externalId?: string
  ownerId: string
  channel: string
  tags: Record<string, string>
}

/** A conversation that was created. */
export type CreatedConversation<Row> = Row & {
  /** Whether an event of it waits for a flow that begins with it. */
  has_started_event: boolean
}

/** Stores a conversation with its owner as first participant. Undefined when the external id is taken. */
export async function insertConversation(
  db: Database,
  conversation: NewConversation,
): Promise<CreatedConversation<ConversationRow> | undefined> {
  const [row] = await query<CreatedConversation<ConversationRow>>(
    db,
    `with conversation as (
       insert into conversations (id, bot_id, installation_id, foreign_id, owner_id, channel, tags)
       values (:id, :botId, :installationId, :externalId, :ownerId, :channel, :tags)
       on conflict (installation_id, foreign_id) do nothing
       returning *
     ), participant as (
       insert into participants (conversation_id, user_id, bot_id) select id, owner_id, bot_id from conversation
     ), started as (${startedInsert})
     select conversation.*, exists (select from started) as has_started_event from conversation`,
    {
      ...conversation,
      externalId: conversation.externalId ?? null,
      tags: JSON.stringify(conversation.tags),
      startedId: newId('evt'),
      startedBy: conversation.ownerId,
    },
  )
  return row
}

/** A conversation row, and the requesting user's internal id if that user is a participant. */
export interface ConversationWithMembership extends ConversationRow {
  participant_id: string | null
}

/** Finds a conversation by an id that clients of the installation use: the internal id first, else the external id. */
export async function findConversationByExternalId(
  db: Database,
  { key, ...where }: { installationId: string; externalConversationId: string; key: UserKey },
): Promise<ConversationWithMembership | undefined> {
  const [row] = await query<ConversationWithMembership>(
    db,
    `select conversations.*, (
       select user_id from participants
       where conversation_id = conversations.id and user_id = (select ${keyHolder})
     ) as participant_id
     from conversations
     where id = (select ${externalConversation})`,
    { ...where, ...keyBindings(key) },
  )
  return row
}

/** The external id of a conversation; undefined when the user is not a participant. */
export async function findParticipation(
  db: Database,
  { key, ...where }: { installationId: string; conversationId: string; key: UserKey },
): Promise<{ foreign_id: string | null } | undefined> {
  const [row] = await query<{ foreign_id: string | null }>(
    db,
    `select foreign_id from conversations join participants on conversation_id = conversations.id
     where installation_id = :installationId and conversations.id = :conversationId
       and user_id = (select ${keyHolder})`,
    { ...where, ...keyBindings(key) },
  )
  return row
}

/** A conversation with the integration that it belongs to. */
export type FoundConversation = ConversationRow & Pick<InstallationRow, 'integration' | 'integration_id'>

/** A bot's conversation, with its integration. */
export async function findConversation(
  db: Database,
  botId: string,
  id: string,
): Promise<FoundConversation | undefined> {
  const [row] = await query<FoundConversation>(
    db,
    `select conversations.*, integration, integration_id from conversations join installations on installations.id = installation_id
     where conversations.bot_id = :botId and conversations.id = :id`,
    { botId, id },
  )
  return row
}

/** Deletes a conversation with its messages, states and waiting events, and its copies in the inbox. */
export async function deleteConversation(db: Database, botId: string, id: string): Promise<void> {
  await transact(db, async (transaction) => {
    const rows = await query<{ id: string }>(
      transaction,
      `select id from conversations where bot_id = :botId and id in (
         select :id::text union all
         select conversation_id from handovers where source_conversation_id = :id and bot_id = :botId)
       order by id for update`,
      { botId, id },
    )
    const ids = rows.map((row) => row.id)
    await deleteRowsOfConversations(transaction, ids)
    await query(transaction, 'delete from conversations where id = any(:ids::text[])', { ids })
  })
}

/** One page of the conversations that a user owns, newest first. */
export async function pageOfOwnedConversations(
  db: Database,
  where: { botId: string; ownerId: string },
  request: PageRequest,
): Promise<Page<ConversationRow>> {
  const read = db('conversations')
    .where({ bot_id: where.botId, owner_id: where.ownerId })
    .modify((query) => page(query, request))
  const rows = await readPage<ConversationRow>(db, read, largeOfTagged)
  return toPage(rows, request, (row) => ({ createdAt: row.created_at, id: row.id }))
}

/** Adds a participant to a conversation and records the signal. Undefined when the user is a participant already. */
export async function insertParticipant(
  db: Database,
  conversation: ConversationRow,
  userId: string,
  signal: ChatSignal,
): Promise<LogEntry | undefined> {
  const change = `
    insert into participants (conversation_id, user_id, bot_id) values (:conversationId, :userId, :botId)
    on conflict (conversation_id, user_id) do nothing
    returning conversation_id`
  const bindings = { conversationId: conversation.id, userId, botId: conversation.bot_id }
  return changeAndRecord(db, change, bindings, signal)
}

/** Removes a participant from a conversation and records the signal. Undefined when the user is not a participant. */
export async function deleteParticipant(
  db: Database,
  conversation: ConversationRow,
  userId: string,
  signal: ChatSignal,
): Promise<LogEntry | undefined> {
  const change = `
    delete from participants where conversation_id = :conversationId and user_id = :userId returning conversation_id`
  return changeAndRecord(db, change, { conversationId: conversation.id, userId }, signal)
}

/** Finds a participant by the id that clients use for the user. */
export async function findParticipantByExternalId(
  db: Database,
  conversation: ConversationRow,
  externalUserId: string,
): Promise<UserRow | undefined> {
  const [row] = await query<UserRow>(
    db,
    `select users.* from participants join users on users.id = user_id
     where conversation_id = :conversationId and user_id = (select ${externalUser})`,
    { conversationId: conversation.id, installationId: conversation.installation_id, externalUserId },
  )
  return row
}

/** One page of a conversation's participants, newest first. */
export async function pageOfParticipants(
  db: Database,
  where: { botId: string; conversationId: string },
  request: PageRequest,
): Promise<Page<UserRow>> {
  const read = db('participants')
    .join('users', 'users.id', 'participants.user_id')
    .where('participants.bot_id', where.botId)
    .where('participants.conversation_id', where.conversationId)
    .select('users.*', 'participants.created_at as joined_at')
    .modify((query) => page(query, request, 'participants.created_at', 'users.id'))
  const rows = await readPage<UserRow & { joined_at: Date }>(db, read, largeOfTagged, { column: 'joined_at' })
  return toPage(rows, request, (row) => ({ createdAt: row.joined_at, id: row.id }))
}
