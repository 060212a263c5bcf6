import type { StoreName } from '../config/s3-settings.ts'
import type { FileObjectRow } from '../models/tables.ts'
import { query, type Database } from './database.ts'

/** A row of `file_objects` whose bytes are complete. */
export interface StoredObject {
  id: string
  store: StoreName
  /** In bytes. */
  size: number
  /** In hexadecimal digits. */
  sha256: string
}

/** Stores that an object is about to be written, where the sweep finds it if that is interrupted. */
export async function insertObject(
  db: Database,
  { id, botId, store }: { id: string; botId: string; store: StoreName },
): Promise<void> {
  await query(db, 'insert into file_objects (id, bot_id, store) values (:id, :botId, :store)', { id, botId, store })
}

/** Stores that all bytes of an object are written. @returns whether the object still exists */
export async function completeObject(
  db: Database,
  id: string,
  { size, sha256 }: Pick<StoredObject, 'size' | 'sha256'>,
): Promise<boolean> {
  const rows = await query(
    db,
    'update file_objects set size = :size, sha256 = :sha256, completed_at = now() where id = :id returning id',
    { id, size, sha256 },
  )
  return rows.length > 0
}

/** A complete object; undefined when it does not exist or is incomplete. */
export async function findObject(db: Database, id: string): Promise<StoredObject | undefined> {
  const [row] = await query<Pick<FileObjectRow, 'id' | 'store' | 'size' | 'sha256'>>(
    db,
    'select id, store, size, sha256 from file_objects where id = :id and completed_at is not null',
    { id },
  )
  return row && { id: row.id, store: row.store, size: Number(row.size), sha256: row.sha256! }
}

/** The store of an object, complete or not. */
export async function findStore(db: Database, id: string): Promise<StoreName | undefined> {
  const [row] = await query<Pick<FileObjectRow, 'store'>>(db, 'select store from file_objects where id = :id', { id })
  return row?.store
}

/** Deletes the row of an object, after its bytes: without the row, nothing would find them. */
export async function deleteObject(db: Database, id: string): Promise<void> {
  await query(db, 'delete from file_objects where id = :id', { id })
}

/** Stores the next part of an object. Fails when the object has been deleted. */
export async function insertPart(db: Database, objectId: string, part: number, bytes: Buffer): Promise<void> {
  await query(db, 'insert into file_parts (object_id, part, bytes) values (:objectId, :part, :bytes)', {
    objectId,
    part,
    bytes,
  })
}

/**
 * Bytes of one part of an object.
 *
 * @param start the first byte within the part
 * @param length the number of bytes
 * @returns undefined when there is no such part
 */
export async function readPart(
  db: Database,
  { objectId, part, start, length }: { objectId: string; part: number; start: number; length: number },
): Promise<Buffer | undefined> {
  const [row] = await query<{ bytes: Buffer }>(
    db,
    `select substring(bytes from :start::integer + 1 for :length::integer) as bytes
     from file_parts where object_id = :objectId and part = :part`,
    { objectId, part, start, length },
  )
  return row?.bytes
}

/** Copies parts of one object to another. @returns the number of parts; fewer than `count` after the last one */
export async function copyParts(
  db: Database,
  { from, to, first, count }: { from: string; to: string; first: number; count: number },
): Promise<number> {
  const [row] = await query<{ copied: number }>(
    db,
    `with copied as (
       insert into file_parts (object_id, part, bytes)
       select :to, part, bytes from file_parts
       where object_id = :from and part >= :first::integer and part < :first::integer + :count::integer
       returning part
     )
     select count(*)::integer as copied from copied`,
    { from, to, first, count },
  )
  return row?.copied ?? 0
}

/** Deletes parts of an object, few at a time: a large object takes longer than a statement may. @returns their number */
export async function deleteParts(db: Database, objectId: string, count: number): Promise<number> {
  const [row] = await query<{ deleted: number }>(
    db,
    `with first as (select part from file_parts where object_id = :objectId order by part limit :count),
     deleted as (
       delete from file_parts using first where object_id = :objectId and file_parts.part = first.part returning 1
     )
     select count(*)::integer as deleted from deleted`,
    { objectId, count },
  )
  return row?.deleted ?? 0
}

/** A complete object of a file. */
export interface FileObject extends StoredObject {
  botId: string
}

/** Objects of files in one store, in the order of their ids after `from`. Nothing refers to the others: the sweep has them. */
export async function fileObjectsIn(
  db: Database,
  store: StoreName,
  { from, limit }: { from: string; limit: number },
): Promise<FileObject[]> {
  const rows = await query<Pick<FileObjectRow, 'id' | 'store' | 'size' | 'sha256'> & { bot_id: string }>(
    db,
    `select objects.id, objects.store, objects.size, objects.sha256, files.bot_id
     from file_objects objects join files on files.object_id = objects.id
     where objects.store = :store and objects.id > :from order by objects.id limit :limit`,
    { store, from, limit },
  )
  return rows.map(({ id, size, sha256, bot_id: botId }) => ({ id, store, size: Number(size), sha256: sha256!, botId }))
}

/**
 * Gives the file of one object another object with the same bytes. The sweep removes the former one an hour later, so that
 * reads that have begun come to their end.
 *
 * @returns whether the file still had the former object
 */
export async function replaceObject(db: Database, former: string, next: string): Promise<boolean> {
  const rows = await query(
    db,
    `with replaced as (
       update files set object_id = :next where object_id = :former returning id
     ), released as (
       update file_objects set completed_at = now() where id = :former and exists (select from replaced)
     )
     select id from replaced`,
    { former, next },
  )
  return rows.length > 0
}

/** Whether a file has this object as its content. */
export async function isInUse(db: Database, id: string): Promise<boolean> {
  return (await query(db, 'select id from files where object_id = :id', { id })).length > 0
}
