import { query, type Database } from './database.ts'

/** @param session with the SHA-256 of the cookie's secret */
export async function insertSession(
  db: Database,
  session: { id: string; hash: Buffer; accountId: string; expiresAt: Date },
): Promise<void> {
  await query(
    db,
    `insert into sessions (id, hash, account_id, expires_at) values (:id, :hash, :accountId, :expiresAt)`,
    session,
  )
}

/** The session of a cookie, unless it has ended. */
export async function findSessionByHash(
  db: Database,
  hash: Buffer,
): Promise<{ id: string; accountId: string; expiresAt: Date } | undefined> {
  const [row] = await query<{ id: string; accountId: string; expiresAt: Date }>(
    db,
    `select id, account_id as "accountId", expires_at as "expiresAt" from sessions
     where hash = :hash and expires_at > now()`,
    { hash },
  )
  return row
}

/** The account of a session, unless the session has ended. */
export async function findAccountOfSession(db: Database, id: string): Promise<string | undefined> {
  const [row] = await query<{ account_id: string }>(
    db,
    `select account_id from sessions where id = :id and expires_at > now()`,
    { id },
  )
  return row?.account_id
}

export async function deleteSession(db: Database, hash: Buffer): Promise<void> {
  await db('sessions').where({ hash }).delete()
}

/**
 * Deletes sessions that have ended.
 *
 * @param rows upper bound of what is deleted
 * @returns how many were deleted
 */
export async function deleteEndedSessions(db: Database, rows: number): Promise<number> {
  const deleted = await query(
    db,
    `delete from sessions where id in (select id from sessions where expires_at <= now() order by expires_at limit :rows)
     returning id`,
    { rows },
  )
  return deleted.length
}
