import { query, type Database } from './database.ts'
import type { Progress } from './retention.ts'

/**
 * Finds objects that no file refers to. An object is written before its file refers to it, so it counts as abandoned an
 * hour after it is complete, and an incomplete one when no upload lasts so long (`maxUploadMilliseconds`).
 *
 * @param from the id to continue after; the call reads at most `limit` objects from there on
 */
export async function abandonedObjects(
  db: Database,
  from: string | undefined,
  limit: number,
): Promise<Pick<Progress<string>, 'cursor'> & { ids: string[] }> {
  const [row] = await query<{ last: string | null; looked: number; ids: string[] | null }>(
    db,
    `with looked as (
       select id, created_at, completed_at from file_objects where id > :from order by id limit :limit
     ), abandoned as (
       select id from looked
       where coalesce(completed_at + interval '1 hour', created_at + interval '3 hours') < now()
         and not exists (select from files where files.object_id = looked.id)
     )
     select (select max(id) from looked) as last, (select count(*)::integer from looked) as looked,
       (select array_agg(id) from abandoned) as ids`,
    { from: from ?? '', limit },
  )
  const { last, looked, ids } = row!
  return { cursor: looked < limit ? undefined : (last ?? undefined), ids: ids ?? [] }
}

/** Deletes files whose time is over. @returns the ids of their objects */
export async function deleteExpiredFiles(db: Database, limit: number): Promise<string[]> {
  const rows = await query<{ object_id: string | null }>(
    db,
    `delete from files using (
       select id from files where expires_at <= now() order by expires_at limit :limit for update skip locked
     ) expired where files.id = expired.id returning files.object_id`,
    { limit },
  )
  return rows.flatMap(({ object_id: id }) => id ?? [])
}

/** Gives up uploads whose addresses have expired without a content. */
export async function failAbandonedUploads(db: Database, limit: number): Promise<void> {
  await query(
    db,
    `update files set status = 'upload_failed', updated_at = now(),
       failed_status_reason = 'The content was not uploaded within a day'
     from (
       select id from files where status = 'upload_pending' and requested_at < now() - interval '1 day'
       order by requested_at limit :limit for update skip locked
     ) late where files.id = late.id`,
    { limit },
  )
}
