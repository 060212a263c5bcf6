import { query, type Database } from './database.ts'

/** A notification of a channel: the payload is under 8,000 bytes. */
export interface Notification {
  channel: string
  payload: string
}

/**
 * Sends notifications in the given order. The commit does not wait for the disk, since no notification survives a crash
 * anyway.
 *
 * @param db not a transaction, whose commit would wait for the disk
 */
export async function notify(db: Database, notifications: Notification[]): Promise<void> {
  await query(
    db,
    `select pg_notify(channel, payload), set_config('synchronous_commit', 'off', true)
     from unnest(:channels::text[], :payloads::text[]) as given (channel, payload)`,
    {
      channels: notifications.map(({ channel }) => channel),
      payloads: notifications.map(({ payload }) => payload),
    },
  )
}

/** @returns the id under which listeners read the signal */
export async function storeLargeSignal(db: Database, body: string): Promise<string> {
  const [row] = await db('large_signals').insert({ body }).returning('id')
  if (!row) throw new Error('The stored signal was not returned')
  return row.id
}

export async function fetchLargeSignal(db: Database, id: string): Promise<string | undefined> {
  const row = await db('large_signals').where({ id }).first('body')
  return row?.body
}

/** Listeners read a signal within moments; it is kept for a minute. */
export async function deleteOldLargeSignals(db: Database): Promise<void> {
  await db('large_signals').where('created_at', '<', db.raw(`now() - interval '1 minute'`)).delete()
}
