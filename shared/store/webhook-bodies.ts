import { query, type Database } from './database.ts'

/** Stores the next part of a request's body, under the id of its future event. */
export async function insertBodyPart(db: Database, eventId: string, part: number, bytes: Buffer): Promise<void> {
  await query(db, 'insert into webhook_bodies (event_id, part, bytes) values (:eventId, :part, :bytes)', {
    eventId,
    part,
    bytes,
  })
}

/** The length of a body in bytes, without reading it; 0 when there is none. */
export async function bodyLength(db: Database, eventId: string): Promise<number> {
  const [row] = await query<{ bytes: string | null }>(
    db,
    'select sum(length(bytes)) as bytes from webhook_bodies where event_id = :eventId',
    { eventId },
  )
  return Number(row?.bytes ?? 0)
}

/** One part of a body; undefined after the last one. */
export async function readBodyPart(db: Database, eventId: string, part: number): Promise<Buffer | undefined> {
  const [row] = await query<{ bytes: Buffer }>(
    db,
    'select bytes from webhook_bodies where event_id = :eventId and part = :part',
    { eventId, part },
  )
  return row?.bytes
}

/** A whole body. */
export async function readBodyParts(db: Database, eventId: string): Promise<Buffer> {
  const rows = await query<{ bytes: Buffer }>(
    db,
    'select bytes from webhook_bodies where event_id = :eventId order by part',
    { eventId },
  )
  return Buffer.concat(rows.map(({ bytes }) => bytes))
}

export async function deleteBody(db: Database, eventId: string): Promise<void> {
  await query(db, 'delete from webhook_bodies where event_id = :eventId', { eventId })
}

/** Deletes bodies that are incomplete, or whose events have ended long ago; not those of events that wait for a worker. */
export async function deleteOldBodies(db: Database): Promise<void> {
  await query(
    db,
    `delete from webhook_bodies where created_at < now() - interval '1 day'
       and not exists (select from events where events.id = event_id and ended_at is null)`,
    {},
  )
}
