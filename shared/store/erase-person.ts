import type { Subject } from '../models/person-terms.ts'
import { inboxIntegration } from '../models/chat-integration.ts'
import { maxUsers } from '../models/data-request.ts'
import { deleteConversation } from './conversations.ts'
import { insertPersonIds, type PersonId } from './data-requests.ts'
import { query, type Database } from './database.ts'
import { eraseOfEvents } from './erase-rows.ts'
import { deleteUser } from './users.ts'

/** The users that are a person, and what belongs to them. */

/** The next bot of a request's workspace after an id. */
export async function nextBot(
  db: Database,
  { workspaceId, botId, after }: { workspaceId: string; botId: string | null; after: string },
): Promise<string | undefined> {
  const [row] = await query<{ id: string }>(
    db,
    `select id from bots where workspace_id = :workspaceId and (:botId::text is null or id = :botId) and id > :after
     order by id limit 1`,
    { workspaceId, botId, after },
  )
  return row?.id
}

/** The users of a bot that a subject names by an id or a tag. */
export function namedUsers(
  db: Database,
  botId: string,
  { userIds = [], externalId, tag }: Subject,
): Promise<PersonId[]> {
  return query(
    db,
    `select id, bot_id from users where bot_id = :botId and id <> bot_id and id in (
       select unnest(:userIds::text[])
       union all
       select person.id from installations join users person
         on person.installation_id = installations.id and person.foreign_id = :externalId::text
       where installations.bot_id = :botId
       union all
       select id from users where bot_id = :botId and tags @> :tag::jsonb and tags <> '{}'
     ) limit ${maxUsers + 1}`,
    {
      botId,
      userIds,
      externalId: externalId ?? null,
      tag: tag ? JSON.stringify({ [tag.key]: tag.value }) : null,
    },
  )
}

/**
 * Those of the next users of a bot that have an identifier as a tag, a property, a name or an external id.
 *
 * @param whole the expression of such a value (`personTerms`)
 * @returns with the id of the last user that was read; undefined after the last one
 */
export async function identifiedUsers(
  db: Database,
  botId: string,
  { whole, after, limit }: { whole: string; after: string; limit: number },
): Promise<{ users: PersonId[]; looked: number; last: string | undefined }> {
  const [row] = await query<{ users: PersonId[] | null; looked: number; last: string | null }>(
    db,
    `with position as (select created_at from users where bot_id = :botId and id = :after),
     looked as materialized (
       select id, bot_id, created_at, name, foreign_id, tags, properties from users
       where bot_id = :botId and (created_at, id) > (coalesce((select created_at from position), '-infinity'), :after)
       order by created_at, id limit :limit
     )
     select (select count(*)::integer from looked) as looked,
       (select id from looked order by created_at desc, id desc limit 1) as last,
       (select jsonb_agg(jsonb_build_object('id', id, 'bot_id', bot_id)) from looked
        where id <> bot_id and (name ~* :whole or foreign_id ~* :whole
          or exists (select from jsonb_each_text(tags) where value ~* :whole)
          or exists (select from jsonb_each_text(properties) where value ~* :whole))) as users`,
    { botId, whole, after, limit },
  )
  const { users, looked, last } = row!
  return { users: users ?? [], looked, last: looked < limit ? undefined : (last ?? undefined) }
}

/** The users of the inbox that stand for users of a bot, as a tag of the bot says. */
export function inboxUsersOf(db: Database, botId: string, userIds: string[]): Promise<PersonId[]> {
  return query(
    db,
    `select users.id, users.bot_id from users person, jsonb_each_text(person.tags) tag
     join users on users.id = tag.value
     join installations on installations.id = users.installation_id
     where person.id = any(:userIds::text[]) and person.bot_id = :botId and tag.key not like '%:%'
       and users.bot_id = :botId and installations.integration_id is null
       and installations.integration = '${inboxIntegration}'
       and not exists (select from member_users where user_id = users.id)`,
    { botId, userIds },
  )
}

/**
 * The conversations of a user in which nobody else takes part than the person, with their copies in the inbox. The members
 * of the workspace who answer in a conversation are no other people.
 *
 * @param users the ids of all users that are the person
 */
export function ownConversations(db: Database, { id, bot_id: botId }: PersonId, users: string[]): Promise<PersonId[]> {
  return query(
    db,
    `with own as (
       select id, bot_id from conversations where bot_id = :botId
         and id in (
           select id from conversations where owner_id = :id union
           select conversation_id from participants where user_id = :id
         )
         and (owner_id is null or owner_id = any(:users::text[]) or owner_id in (select user_id from member_users))
         and not exists (
           select from participants where conversation_id = conversations.id and user_id <> all(:users::text[])
             and not exists (select from member_users where member_users.user_id = participants.user_id)
         )
     )
     select id, bot_id from own
     union
     select conversation_id, handovers.bot_id from handovers, own
     where source_conversation_id = own.id and handovers.bot_id = :botId`,
    { id, botId, users },
  )
}

/** A user that is deleted, and what the caller does after the commit. */
export interface ErasedUser {
  wasThere: boolean
  /** The conversations whose streams end. */
  conversationIds: string[]
  /** The contents of its files. */
  objectIds: string[]
  files: number
}

/** Deletes a user, and keeps the conversations that are the person's alone as ids of the request. */
export async function eraseUserRow(
  transaction: Database,
  { requestId, user, users }: { requestId: string; user: PersonId; users: string[] },
): Promise<ErasedUser> {
  const { id, bot_id: botId } = user
  await insertPersonIds(transaction, requestId, 'conversation', await ownConversations(transaction, user, users))
  const files = await query<{ object_id: string | null }>(
    transaction,
    'select object_id from files where user_id = :id and bot_id = :botId',
    { id, botId },
  )
  const conversationIds = await deleteUser(transaction, botId, id)
  return {
    wasThere: conversationIds !== undefined,
    conversationIds: conversationIds ?? [],
    objectIds: files.flatMap(({ object_id: objectId }) => objectId ?? []),
    files: files.length,
  }
}

/**
 * Erases the next messages or events of a conversation or, once there are none, the conversation itself.
 *
 * @returns the numbers of erased rows, by kind, and whether the conversation is gone
 */
export async function eraseOfConversation(
  transaction: Database,
  { id, bot_id: botId }: PersonId,
  limit: number,
): Promise<{ erased: Record<string, number>; isGone: boolean }> {
  const messages = await query(
    transaction,
    `delete from messages using (
       select id from messages where conversation_id = :id and bot_id = :botId order by created_at desc, id desc limit :limit
     ) next where messages.id = next.id returning messages.id`,
    { id, botId, limit },
  )
  if (messages.length > 0) return { erased: { message: messages.length }, isGone: false }
  const events = await query<{ id: string }>(
    transaction,
    `delete from events using (select id from events where conversation_id = :id and bot_id = :botId limit :limit) next
     where events.id = next.id returning events.id`,
    { id, botId, limit: Math.ceil(limit / 4) },
  )
  if (events.length > 0) {
    await eraseOfEvents(
      transaction,
      botId,
      events.map((event) => event.id),
    )
    return { erased: { event: events.length }, isGone: false }
  }
  const [row] = await query<{ count: number }>(
    transaction,
    'select count(*)::integer as count from conversations where bot_id = :botId and id = :id',
    { botId, id },
  )
  await deleteConversation(transaction, botId, id)
  return { erased: { conversation: row!.count }, isGone: true }
}

/** The longest time of a run, after which it writes nothing more. */
const maxRunMinutes = 15

/** Whether runs of code are in flight that began before a time: they may still write what they knew then. */
export async function hasRunsSince(
  db: Database,
  { workspaceId, botId, before }: { workspaceId: string; botId: string | null; before: Date },
): Promise<boolean> {
  const [row] = await query<{ is_busy: boolean }>(
    db,
    `select exists (
       select from bots join events on events.bot_id = bots.id
       where workspace_id = :workspaceId and (:botId::text is null or bots.id = :botId) and events.status = 'pending'
         and started_at < :before and started_at > now() - interval '${maxRunMinutes} minutes'
         and ended_at is null and available_at <= now()
     ) as is_busy`,
    { workspaceId, botId, before },
  )
  return row!.is_busy
}
