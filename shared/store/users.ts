import { query, transact, type Database } from './database.ts'
import { inboxIntegration } from '../models/chat-integration.ts'
import type { UserKey } from '../models/user-key.ts'
import { keyBindings, keyHolder, externalUser } from './external-ids.ts'
import type { UserRow } from '../models/tables.ts'

export interface UserFields {
  name?: string | undefined
  pictureUrl?: string | undefined
  profile?: string | undefined
}

export interface NewUser extends UserFields {
  id: string
  botId: string
  installationId?: string
  externalId?: string
  tags?: Record<string, string>
  properties?: Record<string, string>
  /** Whether keys that name no user and are older than this user are invalid for it (`keys_since`). */
  refusesOlderKeys?: boolean
}

/** Stores a user. Undefined when the installation has a user of that external id, or there is a user of that id. */
export async function insertUser(db: Database, user: NewUser): Promise<UserRow | undefined> {
  const [row] = await db('users')
    .insert({
      id: user.id,
      bot_id: user.botId,
      installation_id: user.installationId ?? null,
      foreign_id: user.externalId ?? null,
      name: user.name ?? null,
      picture_url: user.pictureUrl ?? null,
      profile: user.profile ?? null,
      tags: user.tags ?? {},
      properties: user.properties ?? {},
      ...(user.refusesOlderKeys && { keys_since: db.fn.now(3) }),
    })
    .onConflict()
    .ignore()
    .returning('*')
  return row
}

export async function findUser(db: Database, botId: string, id: string): Promise<UserRow | undefined> {
  return db('users').where({ bot_id: botId, id }).first()
}

/** Finds the user who holds a key. */
export async function findKeyHolder(db: Database, installationId: string, key: UserKey): Promise<UserRow | undefined> {
  const [row] = await query<UserRow>(db, `select * from users where id = (select ${keyHolder})`, {
    installationId,
    ...keyBindings(key),
  })
  return row
}

/** Finds a user by an id that clients of the installation use: the internal id first, else the external id. */
export async function findUserByExternalId(
  db: Database,
  installationId: string,
  externalUserId: string,
): Promise<UserRow | undefined> {
  const [row] = await query<UserRow>(db, `select * from users where id = (select ${externalUser})`, {
    installationId,
    externalUserId,
  })
  return row
}

/** Sets the given fields and leaves the others unchanged. Undefined when there is no such user. */
export async function updateUser(
  db: Database,
  botId: string,
  id: string,
  fields: UserFields,
): Promise<UserRow | undefined> {
  const [row] = await db('users')
    .where({ bot_id: botId, id })
    .update({
      ...(fields.name !== undefined && { name: fields.name }),
      ...(fields.pictureUrl !== undefined && { picture_url: fields.pictureUrl }),
      ...(fields.profile !== undefined && { profile: fields.profile }),
      updated_at: db.fn.now(3),
    })
    .returning('*')
  return row
}

/** Conversations that one statement changes, which takes about a second. */
const conversationsOfBatch = 10_000

/**
 * Deletes a user and the states that bots keep for it. The user's messages stay, and so do owned conversations, without
 * an owner. A user of the inbox whom a tag of the bot names stands for the user there, and is deleted too.
 *
 * @param installationId restricts the deletion to users of one installation
 * @returns the conversations of which the user was a participant; undefined when there is no such user
 */
export function deleteUser(
  db: Database,
  botId: string,
  id: string,
  installationId: string | null = null,
): Promise<string[] | undefined> {
  return transact(db, async (transaction) => {
    const [user] = await query<{ conversation_ids: string[] }>(
      transaction,
      `select array(select conversation_id from participants where user_id = users.id) as conversation_ids from users
       where bot_id = :botId and id = :id and (:installationId::text is null or installation_id = :installationId)
       for update`,
      { botId, id, installationId },
    )
    if (!user) return undefined
    const { conversation_ids: conversationIds } = user
    if (conversationIds.length > conversationsOfBatch)
      await leaveConversations(transaction, { botId, id, conversationIds })
    await query(
      transaction,
      `with deleted as (
         delete from users where bot_id = :botId and id = :id returning tags
       )
       delete from users using deleted, jsonb_each_text(deleted.tags) tag, installations
       where users.id = tag.value and tag.key not like '%:%' and users.bot_id = :botId
         and installations.id = users.installation_id and installations.integration_id is null
         and installations.integration = '${inboxIntegration}'
         and not exists (select from member_users where user_id = users.id)`,
      { botId, id },
    )
    return conversationIds
  })
}

/** Takes a user out of conversations, all of which together take longer than a statement may. */
async function leaveConversations(
  transaction: Database,
  { botId, id, conversationIds }: { botId: string; id: string; conversationIds: string[] },
): Promise<void> {
  for (let from = 0; from < conversationIds.length; from += conversationsOfBatch) {
    const ids = conversationIds.slice(from, from + conversationsOfBatch)
    await query(
      transaction,
      `with disowned as (
         update conversations set owner_id = null where bot_id = :botId and owner_id = :id and id = any(:ids::text[])
       )
       delete from participants where user_id = :id and conversation_id = any(:ids::text[])`,
      { botId, id, ids },
    )
  }
}

/** The external ids of users that have one, by internal id. */
export async function externalUserIds(db: Database, ids: string[]): Promise<Map<string, string>> {
  const rows: { id: string; foreign_id: string }[] = await db('users')
    .whereIn('id', [...new Set(ids)])
    .whereNotNull('foreign_id')
    .select('id', 'foreign_id')
  return new Map(rows.map((row) => [row.id, row.foreign_id]))
}
