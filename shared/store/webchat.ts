import { givenIdTag } from '../models/chat-integration.ts'
import { webchatStarted } from '../models/event.ts'
import { feedbackCommentTag, feedbackTag, type ParticipantRow, type SeenHandoverRow } from '../models/webchat.ts'
import { largeOfMessages } from './messages.ts'
import { endedByBytes, maxPageBytes, sumOfBytes } from './page-bytes.ts'
import { nextClock } from './conversation-log.ts'
import { query, type Database } from './database.ts'
import { eventInsert } from './insert-rows.ts'
import type { ConversationRow, EventRow, MessageRow } from '../models/tables.ts'

/** A conversation of a visitor, with its newest message; null when there is none. */
interface VisitedConversation extends ConversationRow {
  last_message: (Pick<MessageRow, 'type' | 'payload' | 'user_id'> & { created_at: string }) | null
}

/** Conversations of a visitor per list: the published web chat reads one page. */
const maxListed = 100

const shortened = `jsonb_build_object('text', coalesce(left(last.payload ->> 'text', 200), last.type))`

/**
 * The conversations of a visitor, those with the newest entries first. After a number of bytes, of the last messages only the
 * start of the text is read.
 */
export async function listVisitedConversations(
  db: Database,
  where: { installationId: string; userId: string },
): Promise<VisitedConversation[]> {
  return query(
    db,
    `with visited as materialized (
       select conversations.* from participants join conversations on conversations.id = conversation_id
       where user_id = :userId and installation_id = :installationId
       order by clock desc, id desc limit ${maxListed}
     ), last as materialized (
       select visited.id, last.*, ${sumOfBytes('last.payload')} over (
         order by clock desc, visited.id desc rows unbounded preceding
       ) > ${maxPageBytes} as is_shortened
       from visited cross join lateral (
         select type, payload, user_id, created_at from messages
         where messages.conversation_id = visited.id and messages.bot_id = visited.bot_id
         order by messages.created_at desc, messages.id desc limit 1
       ) last
     )
     select visited.*, case when last.id is not null then jsonb_build_object(
         'type', case when is_shortened then 'text' else last.type end,
         'payload', case when is_shortened then ${shortened} else last.payload end,
         'user_id', last.user_id, 'created_at', last.created_at
       ) end as last_message
     from visited left join last on last.id = visited.id
     order by clock desc, visited.id desc`,
    where,
  )
}

/**
 * A conversation in which a visitor takes part: the named one, else the newest without any entry, so that a page that is
 * opened again and again makes no further ones.
 */
export async function findVisitedConversation(
  db: Database,
  where: { installationId: string; userId: string; conversationId: string | undefined },
): Promise<ConversationRow | undefined> {
  const [row] = await query<ConversationRow>(
    db,
    `select conversations.* from participants join conversations on conversations.id = conversation_id
     where user_id = :userId and installation_id = :installationId
       and case when :conversationId::text is null then sequence = 0 else conversations.id = :conversationId end
     order by conversations.created_at desc, conversations.id desc limit 1`,
    { ...where, conversationId: where.conversationId ?? null },
  )
  return row
}

/**
 * The users who take part in a conversation, oldest first; the bot is none of them.
 *
 * @param where.participantId of the only one to find, as clients know it
 */
export async function listParticipatingUsers(
  db: Database,
  where: { botId: string; conversationId: string; participantId?: string },
): Promise<ParticipantRow[]> {
  return query(
    db,
    `select users.*, participants.created_at as joined_at from participants join users on users.id = user_id
     where conversation_id = :conversationId and participants.bot_id = :botId
       and (:participantId::text is null or coalesce(foreign_id, users.id) = :participantId)
     order by participants.created_at, users.id limit 100`,
    { ...where, participantId: where.participantId ?? null },
  )
}

/**
 * The newest handovers of a conversation, the newest first.
 *
 * @param where.id of the only one to find
 */
export async function listSeenHandovers(
  db: Database,
  where: { botId: string; conversationId: string; id?: string },
): Promise<SeenHandoverRow[]> {
  return query(
    db,
    `select handovers.id, user_id, assigned_at, ended_at
     from handovers join conversations on conversations.id = conversation_id
     left join member_users on member_users.account_id = handovers.account_id
       and member_users.installation_id = conversations.installation_id
     where handovers.bot_id = :botId and conversation_id = :conversationId and (:id::text is null or handovers.id = :id)
     order by handovers.created_at desc, handovers.id desc limit 100`,
    { ...where, id: where.id ?? null },
  )
}

/** Whether a user is a participant whom the bot has created, such as a person who answers in its place. */
export async function isCreatedParticipant(db: Database, conversationId: string, userId: string): Promise<boolean> {
  const rows = await query(
    db,
    `select from participants join users on users.id = user_id
     where conversation_id = :conversationId and user_id = :userId and tags -> '${givenIdTag}' is not null`,
    { conversationId, userId },
  )
  return rows.length > 0
}

const newestStatement = endedByBytes(
  `select * from messages
   where bot_id = :botId and conversation_id = :conversationId and created_at <= :until
   order by created_at desc, id desc limit :limit`,
  largeOfMessages,
)

/** The newest messages of a conversation up to a position of its log, newest first. */
export async function newestMessages(
  db: Database,
  { botId, conversationId, until, limit }: { botId: string; conversationId: string; until: Date; limit: number },
): Promise<MessageRow[]> {
  return query(db, newestStatement, { botId, conversationId, until, limit })
}

/** The tag of a conversation whose bot was told that it has started. */
const startedTag = 'webchat:started'

const startedInsert = eventInsert({
  id: ':id',
  bot_id: 'bot_id',
  mailbox: 'id',
  conversation_id: 'id',
  user_id: ':userId',
  integration: ':integration',
  type: ':type',
  payload: ':payload',
  created_at: 'clock',
})

/**
 * Stores the event by which a bot learns that a visitor has opened a conversation. Undefined when it was stored before,
 * since each reconnection asks for it, or when there is no such conversation.
 */
export async function insertStartedOnce(
  db: Database,
  event: { id: string; botId: string; conversationId: string; userId: string; integration: string },
): Promise<EventRow | undefined> {
  const { conversationId, userId } = event
  const [row] = await query<EventRow>(
    db,
    `with conversation as (
       ${nextClock}, tags = tags || jsonb_build_object(:tag::text, 'true')
       where id = :conversationId and bot_id = :botId and tags -> :tag is null
       returning id, bot_id, clock
     )
     ${startedInsert} from conversation returning *`,
    { ...event, type: webchatStarted, payload: JSON.stringify({ userId, conversationId }), tag: startedTag },
  )
  return row
}

/** Sets the feedback on a message of the bot, or removes it. False when the visitor cannot see such a message. */
export async function setFeedback(
  db: Database,
  where: { installationId: string; userId: string; messageId: string },
  feedback: { value: string; comment?: string } | undefined,
): Promise<boolean> {
  const set = {
    ...(feedback && { [feedbackTag]: feedback.value }),
    ...(feedback?.comment && { [feedbackCommentTag]: feedback.comment }),
  }
  const rows = await query(
    db,
    `update messages set tags = (messages.tags - :removed::text[]) || :set::jsonb
     from conversations join participants on conversation_id = conversations.id and user_id = :userId
     where messages.id = :messageId and messages.conversation_id = conversations.id
       and messages.direction = 'outgoing' and installation_id = :installationId
     returning messages.id`,
    { ...where, set: JSON.stringify(set), removed: [feedbackTag, feedbackCommentTag] },
  )
  return rows.length > 0
}
