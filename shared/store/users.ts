import { query, type Database } from './database.ts'
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
  /** Whether keys that name no user and are older than this one are not this user's (`keys_since`). */
  refusesOlderKeys?: boolean
}

/** Stores a user. Undefined when the installation has one with that foreign id, or there is one with that id. */
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

/** Finds the user whose key it is. */
export async function findKeyHolder(db: Database, installationId: string, key: UserKey): Promise<UserRow | undefined> {
  const [row] = await query<UserRow>(db, `select * from users where id = (select ${keyHolder})`, {
    installationId,
    ...keyBindings(key),
  })
  return row
}

/** Finds a user by the id that a client of the installation knows: ours if there is such a one, else an external id. */
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

/** Sets the given fields and leaves the others as they are. Undefined when there is no such user. */
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

/**
 * Deletes a user, with what bots keep of it. What the user said stays, and so do conversations, which have no owner then.
 *
 * @param installationId of the only one whose users may be deleted, where they are not all the bot's
 * @returns the conversations that the user took part in; undefined when there is no such user
 */
export async function deleteUser(
  db: Database,
  botId: string,
  id: string,
  installationId: string | null = null,
): Promise<string[] | undefined> {
  const [row] = await query<{ conversation_ids: string[] }>(
    db,
    `with deleted as (
       delete from users
        where bot_id = :botId and id = :id and (:installationId::text is null or installation_id = :installationId)
        returning id
     ), forgotten as (
       delete from states using deleted where bot_id = :botId and type = 'user' and owner_id = deleted.id
     )
     select array(select conversation_id from participants where user_id = deleted.id) as conversation_ids from deleted`,
    { botId, id, installationId },
  )
  return row?.conversation_ids
}

/** The foreign ids of those users that have one, by their own ids. */
export async function externalUserIds(db: Database, ids: string[]): Promise<Map<string, string>> {
  const rows: { id: string; foreign_id: string }[] = await db('users')
    .whereIn('id', [...new Set(ids)])
    .whereNotNull('foreign_id')
    .select('id', 'foreign_id')
  return new Map(rows.map((row) => [row.id, row.foreign_id]))
}
