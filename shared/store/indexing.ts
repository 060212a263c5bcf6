import type { Config } from '../config/config.ts'
import type { FileRow } from '../models/tables.ts'
import { megabyte } from '../units.ts'
import { query, type Database } from './database.ts'
import type { StoredObject } from './file-objects.ts'
import { findObject } from './file-objects.ts'
import { languageOf } from './passage-language.ts'
import { insertPassages, type NewPassage } from './passages.ts'

/** The indexing of files, whose rows say what is to be done: `indexing_pending`, and the generation to index. */

/** A file to index. */
export interface IndexingClaim {
  fileId: string
  botId: string
  generation: number
  key: string
  contentType: string
  indexing: FileRow['indexing']
  /** Its content; absent when its passages are given and stored already. */
  object?: StoredObject
}

/** Finds a file to index. Undefined when it no longer waits for that. */
export async function findIndexing(db: Database, fileId: string): Promise<IndexingClaim | undefined> {
  const [row] = await query<FileRow & { is_given: boolean }>(
    db,
    `select *, exists (
       select 1 from passages where passages.file_id = files.id and passages.generation = files.index_generation
     ) as is_given
     from files where id = :fileId and status = 'indexing_pending' and (expires_at is null or expires_at > now())`,
    { fileId },
  )
  if (!row) return undefined
  const object = row.is_given || row.object_id === null ? undefined : await findObject(db, row.object_id)
  return {
    fileId: row.id,
    botId: row.bot_id,
    generation: row.index_generation,
    key: row.key,
    contentType: row.content_type,
    indexing: row.indexing,
    ...(object && { object }),
  }
}

/**
 * Counts an attempt, which begins now: a file that only waits for its turn is not the reason why a worker ends.
 *
 * @returns the number of attempts so far; undefined when the file is no longer to be indexed, or is to be indexed anew
 */
export async function beginIndexing(db: Database, { fileId, generation }: IndexingClaim): Promise<number | undefined> {
  const [row] = await query<{ index_attempts: number }>(
    db,
    `update files set index_attempted = index_generation,
       index_attempts = case when index_attempted = index_generation then index_attempts + 1 else 1 end
     where id = :fileId and index_generation = :generation and status = 'indexing_pending'
     returning index_attempts`,
    { fileId, generation },
  )
  return row?.index_attempts
}

/** Whether a file is still to be indexed as claimed: it was neither deleted nor upserted again meanwhile. */
export async function isStillIndexed(db: Database, { fileId, generation }: IndexingClaim): Promise<boolean> {
  const [row] = await query(
    db,
    `select 1 from files where id = :fileId and index_generation = :generation and status = 'indexing_pending'`,
    { fileId, generation },
  )
  return row !== undefined
}

/** Takes back an attempt that failed through no fault of the file. */
export async function releaseIndexing(db: Database, { fileId, generation }: IndexingClaim): Promise<void> {
  await query(
    db,
    `update files set index_attempts = greatest(0, index_attempts - 1)
     where id = :fileId and index_attempted = :generation`,
    { fileId, generation },
  )
}

/** The passages of one bot would exceed a quota. The message is for the person who uploaded the file. */
export class IndexQuotaError extends Error {
  override name = 'IndexQuotaError'
}

/** For the person who uploaded a file of which searches find nothing. */
const withoutText =
  'The file has no text, so searches find nothing of it. Scanned pages have none before text recognition (OCR), and ' +
  'PDFs in Chinese, Japanese or Korean none without their fonts: print them to a new PDF'

/** Passages inserted by one statement. */
const batchSize = 200

/**
 * Makes passages those of a file, in place of its former ones, and the file one that searches find.
 *
 * @param passages none when they are stored already
 * @returns false when the file was deleted, or is to be indexed anew: nothing has changed then
 * @throws IndexQuotaError
 */
export async function completeIndexing(
  db: Database,
  { fileId, botId, generation }: Pick<IndexingClaim, 'fileId' | 'botId' | 'generation'>,
  passages: Iterable<NewPassage> | undefined,
  { knowledge, embeddings }: Pick<Config, 'knowledge' | 'embeddings'>,
): Promise<boolean> {
  return db.transaction(async (transaction) => {
    const rows = await query(
      transaction,
      `update files set status = 'indexing_completed', failed_status_reason = null, updated_at = now(),
         embedding_due_at = case when :embeds then now() end, embedding_attempts = 0, embedded_model = null
       where id = :fileId and index_generation = :generation and status = 'indexing_pending' returning id`,
      { fileId, generation, embeds: embeddings !== undefined },
    )
    if (rows.length === 0) return false
    await query(transaction, 'delete from passages where file_id = :fileId and generation <> :generation', {
      fileId,
      generation,
    })
    if (passages && (await insertAll(transaction, { fileId, botId, generation }, passages)) === 0) {
      await query(
        transaction,
        'update files set failed_status_reason = :withoutText, embedding_due_at = null where id = :fileId',
        { fileId, withoutText },
      )
    }
    await assertIndexQuota(transaction, botId, knowledge, fileId)
    return true
  })
}

/** @returns how many there are */
async function insertAll(
  transaction: Database,
  file: { fileId: string; botId: string; generation: number },
  passages: Iterable<NewPassage>,
): Promise<number> {
  let first = 0
  let batch: NewPassage[] = []
  let language: string | null | undefined
  const insert = async () => {
    if (language === undefined) language = await languageOf(transaction, batch)
    await insertPassages(transaction, { ...file, first, language }, batch)
    first += batch.length
    batch = []
  }
  for (const passage of passages) {
    batch.push(passage)
    if (batch.length >= batchSize) await insert()
  }
  if (batch.length > 0) await insert()
  return first
}

/**
 * Refuses passages that let a bot exceed its quotas. Indexing files of one bot wait here for each other.
 *
 * @param fileId the file whose passages are new; its former ones do not count, because they are about to go
 * @throws IndexQuotaError
 */
export async function assertIndexQuota(
  transaction: Database,
  botId: string,
  { maxPassages, maxTextBytes }: Config['knowledge'],
  fileId: string,
): Promise<void> {
  await query(transaction, `select pg_advisory_xact_lock(hashtext('passages'), hashtext(:botId))`, { botId })
  const [row] = await query<{ passages: string; bytes: string }>(
    transaction,
    `select count(*) as passages, coalesce(sum(bytes), 0) as bytes from passages
     where bot_id = :botId and not (file_id = :fileId and generation < (select index_generation from files where id = :fileId))`,
    { botId, fileId },
  )
  if (Number(row!.passages) > maxPassages) {
    throw new IndexQuotaError(
      `The indexed files of a bot may have ${maxPassages} passages together (BOT_PASSAGES), and would have ` +
        `${row!.passages}: delete some, or have the operator raise it`,
    )
  }
  if (Number(row!.bytes) > maxTextBytes) {
    throw new IndexQuotaError(
      `The indexed files of a bot may have ${maxTextBytes / megabyte} MB of text together (BOT_INDEXED_MB): delete ` +
        'some, or have the operator raise it',
    )
  }
}

/** Ends the indexing of a file without success. @param reason for the person who uploaded it */
export async function failIndexing(
  db: Database,
  { fileId, generation }: Pick<IndexingClaim, 'fileId' | 'generation'>,
  reason: string,
): Promise<void> {
  await query(
    db,
    `update files set status = 'indexing_failed', failed_status_reason = :reason, updated_at = now()
     where id = :fileId and index_generation = :generation and status = 'indexing_pending'`,
    { fileId, generation, reason: reason.slice(0, 1000) },
  )
}

/** Files that have waited to be indexed for so long that their jobs may be lost. */
export async function overdueFiles(
  db: Database,
  waitedMilliseconds: number,
  limit: number,
): Promise<Pick<FileRow, 'id' | 'bot_id'>[]> {
  return query(
    db,
    `select id, bot_id from files where status = 'indexing_pending'
       and updated_at <= now() - :waitedMilliseconds * interval '1 millisecond'
     order by updated_at limit :limit`,
    { waitedMilliseconds, limit },
  )
}

/** Deletes passages of former contents, whose files are no longer indexed. */
export async function deleteFormerPassages(db: Database, limit: number): Promise<void> {
  await query(
    db,
    `delete from passages where id in (
       select passages.id from (
         select id, index_generation from files
         where index_generation > 0 and updated_at > now() - interval '1 day'
           and status in ('upload_pending', 'upload_failed', 'upload_completed', 'indexing_failed')
         offset 0
       ) files join passages on passages.file_id = files.id
       where passages.generation < files.index_generation
       limit :limit
     )`,
    { limit },
  )
}
