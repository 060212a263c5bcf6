import { query, type Database } from './database.ts'

export interface IdempotencyKeyRow {
  fingerprint: Buffer
  /** Encrypted; null while the request is under way. */
  reply: string | null
}

/**
 * Takes a key for a request. Where another transaction holds it, waits for that one's end, for a few seconds at most.
 *
 * @param id says whose key it is, and for what
 * @returns undefined when it is taken from now on; otherwise what it was taken for before
 * @throws Error with the SQLSTATE 55P03 when it was not let go in time
 */
export async function takeKey(
  transaction: Database,
  id: Buffer,
  fingerprint: Buffer,
): Promise<IdempotencyKeyRow | undefined> {
  await transaction.raw(`set local lock_timeout = '5s'`)
  const taken = await query(
    transaction,
    `insert into idempotency_keys (id, fingerprint) values (:id, :fingerprint) on conflict do nothing returning id`,
    { id, fingerprint },
  )
  await transaction.raw('set local lock_timeout to default')
  if (taken.length > 0) return undefined
  const [row] = await query<IdempotencyKeyRow>(
    transaction,
    'select fingerprint, reply from idempotency_keys where id = :id',
    { id },
  )
  // Let go by the sweep or after a failure, in this very moment.
  return row ?? takeKey(transaction, id, fingerprint)
}

export async function keepReply(db: Database, id: Buffer, reply: string): Promise<void> {
  await query(db, 'update idempotency_keys set reply = :reply where id = :id', { id, reply })
}

/** Lets a key go whose request has come to nothing. */
export async function letGoKey(db: Database, id: Buffer): Promise<void> {
  await query(db, 'delete from idempotency_keys where id = :id', { id })
}

/** Deletes keys that were kept for a day, the oldest first, at most so many. Gives how many there were. */
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
