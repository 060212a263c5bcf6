import { query, type Database } from './database.ts'

/** Tells who listens on a channel. `payload` must be under 8,000 bytes. */
export async function notify(db: Database, channel: string, payload: string): Promise<void> {
  await query(db, 'select pg_notify(:channel, :payload)', { channel, payload })
}

/** @returns the id under which the listeners find the signal */
export async function storeLargeSignal(db: Database, body: string): Promise<string> {
  const [row] = await db('large_signals').insert({ body }).returning('id')
  if (!row) throw new Error('The stored signal was not returned')
  return row.id
}

export async function fetchLargeSignal(db: Database, id: string): Promise<string | undefined> {
  const row = await db('large_signals').where({ id }).first('body')
  return row?.body
}

/** Listeners fetch a signal within moments; it is kept a minute. */
export async function deleteOldLargeSignals(db: Database): Promise<void> {
  await db('large_signals').where('created_at', '<', db.raw(`now() - interval '1 minute'`)).delete()
}
