import type { FileObjectRow } from '../models/tables.ts'
import { query, type Database } from './database.ts'
import type { StoredObject } from './file-objects.ts'

/** The content of a file, with what an answer says about it. */
export interface FileContent {
  object: StoredObject
  botId: string
  key: string
  contentType: string
}

type Row = Pick<FileObjectRow, 'id' | 'store' | 'size' | 'sha256'> & {
  bot_id: string
  key: string
  content_type: string
}

/** Columns and tables of both look-ups; files that have expired are gone, though the sweep has not deleted them yet. */
const contents = `select objects.id, objects.store, objects.size, objects.sha256,
    files.bot_id, files.key, files.content_type
  from files join file_objects objects on objects.id = files.object_id
  where (files.expires_at is null or files.expires_at > now())`

/** A content that everybody may read; undefined when its file is not public, or has no content yet. */
export async function findPublicContent(db: Database, publicId: string): Promise<FileContent | undefined> {
  const [row] = await query<Row>(
    db,
    `${contents} and files.public_id = :publicId and 'public_content' = any(files.access_policies)`,
    { publicId },
  )
  return row && toContent(row)
}

/** The content that an upsert brought; undefined when another upsert replaces it, or when it has not come yet. */
export async function findContent(db: Database, fileId: string, generation: number): Promise<FileContent | undefined> {
  const [row] = await query<Row>(db, `${contents} and files.id = :fileId and files.generation = :generation`, {
    fileId,
    generation,
  })
  return row && toContent(row)
}

/** Stores that the content of an upsert was refused: its address is of no use any more. */
export async function failUpload(
  db: Database,
  { fileId, generation }: { fileId: string; generation: number },
  reason: string,
): Promise<void> {
  await query(
    db,
    `update files set status = 'upload_failed', failed_status_reason = :reason, updated_at = now()
     where id = :fileId and generation = :generation and status = 'upload_pending'`,
    { fileId, generation, reason },
  )
}

function toContent({ id, store, size, sha256, bot_id: botId, key, content_type: contentType }: Row): FileContent {
  return { object: { id, store, size: Number(size), sha256: sha256! }, botId, key, contentType }
}
