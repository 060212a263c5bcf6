import { query, type Database } from './database.ts'

export interface IdempotencyKeyRow {
  fingerprint: Buffer
  /** Encrypted; null while the request is in flight. */
  reply: string | null
}

/**
 * Claims a key for a request. Waits at most five seconds for another transaction that holds the key.
 *
 * @param id identifies the caller, the operation and the key
 * @returns undefined when the key was claimed; otherwise the row of the earlier request
 * @throws Error with the SQLSTATE 55P03 when the key was not released in time
 */
export async function claimKey(
  transaction: Database,
  id: Buffer,
  fingerprint: Buffer,
): Promise<IdempotencyKeyRow | undefined> {
  await transaction.raw(`set local lock_timeout = '5s'`)
  const claimed = await query(
    transaction,
    `insert into idempotency_keys (id, fingerprint) values (:id, :fingerprint) on conflict do nothing returning id`,
    { id, fingerprint },
  )
  await transaction.raw('set local lock_timeout to default')
  if (claimed.length > 0) return undefined
  const [row] = await query<IdempotencyKeyRow>(
    transaction,
    'select fingerprint, reply from idempotency_keys where id = :id',
    { id },
  )
  // The row was deleted in between, by the sweep or after a failure.
  return row ?? claimKey(transaction, id, fingerprint)
}

export async function storeReply(db: Database, id: Buffer, reply: string): Promise<void> {
  await query(db, 'update idempotency_keys set reply = :reply where id = :id', { id, reply })
}

/** Releases the key of a failed request. */
export async function releaseKey(db: Database, id: Buffer): Promise<void> {
  await query(db, 'delete from idempotency_keys where id = :id', { id })
}

/** Deletes keys after a day, the oldest first, up to a limit. @returns the number of deleted keys */
export async function deleteOldKeys(db: Database, limit: number): Promise<number> {
  const rows = await query(
    db,
    `delete from idempotency_keys where id in (
       select id from idempotency_keys where created_at < now() - interval '24 hours'
       order by created_at limit :limit for update skip locked
     )
     returning id`,
    { limit },
  )
  return rows.length
}
