import { flowStateName } from '../models/state.ts'
import {
  maxPayloadBytes,
  type ParticipantUserRow,
  type ShownStateRow,
  type TranscriptConversationRow,
  type TranscriptMessageRow,
} from '../models/transcript.ts'
import { boundedCount, boundedPayload } from './conversation-search.ts'
import { query, type Database } from './database.ts'
import { endedByBytes } from './page-bytes.ts'
import { maximumPageSize, toPage, type Page, type PageRequest } from './pagination.ts'

/** Upper bounds of the participants and of the states that are shown. */
export const maxParticipants = 50
export const maxStates = 40

/** The key of a conversation. A bot finds its own conversations only. */
export interface ConversationOfBot {
  botId: string
  conversationId: string
}

export async function findTranscriptConversation(
  db: Database,
  where: ConversationOfBot,
): Promise<TranscriptConversationRow | undefined> {
  const [row] = await query<TranscriptConversationRow>(
    db,
    `select conversations.*, integration, alias, ${boundedCount}
     from conversations join installations on installations.id = installation_id
     where conversations.id = :conversationId and conversations.bot_id = :botId`,
    { ...where },
  )
  return row
}

/** The participants of a conversation, those who joined first at the start. */
export async function participantsOf(db: Database, where: ConversationOfBot): Promise<ParticipantUserRow[]> {
  return query<ParticipantUserRow>(
    db,
    `select users.*, exists (select from member_users where user_id = users.id) as is_member
     from participants join users on users.id = participants.user_id
     where participants.conversation_id = :conversationId and users.bot_id = :botId
     order by participants.created_at, users.id limit :limit`,
    { ...where, limit: maxParticipants },
  )
}

/**
 * The newest states of a conversation and of its users that the bot's own code has set. Those of integrations may hold
 * credentials, and the position in flows is shown as such.
 */
export async function statesOf(
  db: Database,
  { botId, conversationId }: ConversationOfBot,
  userIds: string[],
): Promise<ShownStateRow[]> {
  return query<ShownStateRow>(
    db,
    `select type, owner_id, name, updated_at, ${boundedPayload('states')} as payload
     from states
     where bot_id = :botId and installation_id is null and name <> '${flowStateName}'
       and (expires_at is null or expires_at > now())
       and (type = 'conversation' and owner_id = :conversationId or type = 'user' and owner_id = any(:userIds::text[]))
     order by updated_at desc, id limit :limit`,
    { botId, conversationId, userIds, limit: maxStates },
  )
}

/** The payload of the state that holds the conversation's position in flows; undefined where no flow has run. */
export async function flowStateOf(
  db: Database,
  where: ConversationOfBot,
): Promise<Record<string, unknown> | undefined> {
  const [row] = await query<{ payload: Record<string, unknown> }>(
    db,
    `select payload from states
     where bot_id = :botId and type = 'conversation' and owner_id = :conversationId and name = '${flowStateName}'
       and installation_id is null`,
    { ...where },
  )
  return row?.payload
}

/** The inner limit is a number, by which the planner knows that few rows are joined with others. */
function readOfTranscript(condition: string): string {
  return endedByBytes(
    `select * from (
       select * from messages where conversation_id = :conversationId and bot_id = :botId ${condition}
       order by created_at desc, id desc limit ${maximumPageSize + 1}
     ) newest limit :limit`,
    // Payloads that are stored with more bytes are not shown.
    [`case when pg_column_size(listed.payload) <= ${maxPayloadBytes} then listed.payload end`, 'listed.metadata'],
  )
}

/**
 * One page of a conversation's messages, newest first, each with its author's or member's name and the event that handled or
 * delivered it. That event has the time of its message, by which an index finds it; none has the message.
 */
export async function pageOfTranscript(
  db: Database,
  where: ConversationOfBot,
  request: PageRequest,
): Promise<Page<TranscriptMessageRow>> {
  const { after, limit } = request
  const read = readOfTranscript(after ? 'and (created_at, id) < (:afterTime, :afterId)' : '')
  const rows = await query<TranscriptMessageRow>(
    db,
    `select page_bytes, is_followed, messages.id, messages.bot_id, messages.conversation_id, messages.user_id, messages.type,
       messages.metadata, messages.tags, messages.direction, messages.origin, messages.created_at,
       messages.updated_at, ${boundedPayload('messages')} as payload,
       users.name as author_name, member_messages.name as member_name, member_messages.account_id,
       accounts.picture_url as member_picture_url, handling.id as event_id, handling.status as event_status, handling.failure_reason
     from (${read}) messages
     left join users on users.id = messages.user_id and users.bot_id = messages.bot_id
     left join member_messages on member_messages.message_id = messages.id
     left join accounts on accounts.id = member_messages.account_id
     left join lateral (
       select id, status, failure_reason from events
       where bot_id = messages.bot_id and created_at = messages.created_at and message_id = messages.id
         and direction = messages.direction
       order by id limit 1
     ) handling on true
     order by messages.created_at desc, messages.id desc`,
    { ...where, afterTime: after?.createdAt ?? null, afterId: after?.id ?? null, limit: limit + 1 },
  )
  return toPage(rows, request, (row) => ({ createdAt: row.created_at, id: row.id }))
}
