import type { Config } from '../config/config.ts'
import { ApiError } from '../errors.ts'
import type { FileRow, FileUsageRow } from '../models/tables.ts'
import { query, type Database } from './database.ts'
import { megabyte } from '../units.ts'

/** Contents of files on their way in, and the quotas of bots. */

type FileLimits = Pick<Config['files'], 'maxFileBytes' | 'maxFiles' | 'maxBytes'>
type VisitorLimits = Pick<Config['files'], 'maxFileBytes' | 'visitors'>

/** The rights of an upload. */
export interface UploadTarget {
  botId: string
  /** Upper bound of the content in bytes. */
  allowance: number
  /** Whether this upsert is the newest one and has no content yet. */
  isOpen: boolean
}

/** Finds the file of an upload address. Undefined when the file has been deleted or has expired. */
export async function findUpload(
  db: Database,
  fileId: string,
  generation: number,
  limits: FileLimits,
): Promise<UploadTarget | undefined> {
  const [row] = await query<{ bot_id: string; is_open: boolean; others: string }>(
    db,
    `select bot_id, generation = :generation and status = 'upload_pending' as is_open,
       file_usage.bytes - coalesce(size, declared_size) as others
     from files join file_usage using (bot_id)
     where id = :fileId and (expires_at is null or expires_at > now())`,
    { fileId, generation },
  )
  if (!row) return undefined
  const allowance = Math.max(0, Math.min(limits.maxFileBytes, limits.maxBytes - Number(row.others)))
  return { botId: row.bot_id, allowance, isOpen: row.is_open }
}

/** A content that is stored, and the upsert that it was sent for. */
export interface CompletedUpload {
  fileId: string
  generation: number
  objectId: string
  size: number
  /** In hexadecimal digits. */
  sha256: string
}

/**
 * Makes a stored content that of its file, which is then complete or waits to be indexed.
 *
 * @returns `stale` when the file is gone, was upserted again or already has a content: nothing refers to the object then
 * @throws ApiError `QuotaExceeded` when other files have taken the room meanwhile
 */
export async function completeUpload(
  transaction: Database,
  { fileId, generation, objectId, size, sha256 }: CompletedUpload,
  limits: FileLimits,
): Promise<'completed' | 'indexing' | 'stale'> {
  const [row] = await query<Pick<FileRow, 'bot_id' | 'declared_size' | 'status'>>(
    transaction,
    `update files set status = case when index then 'indexing_pending' else 'upload_completed' end,
       object_id = :objectId, size = :size, sha256 = :sha256, updated_at = now()
     where id = :fileId and generation = :generation and status = 'upload_pending'
       and (expires_at is null or expires_at > now())
     returning bot_id, declared_size, status`,
    { fileId, generation, objectId, size, sha256 },
  )
  if (!row) return 'stale'
  if (size > Number(row.declared_size)) await assertQuota(transaction, row.bot_id, limits)
  return row.status === 'indexing_pending' ? 'indexing' : 'completed'
}

/**
 * Refuses a change of the same transaction that lets a bot's files exceed its quotas. The change has locked the bot's
 * usage, so concurrent ones wait for its outcome.
 *
 * @param more files that are to come
 * @throws ApiError `QuotaExceeded`
 */
export async function assertQuota(
  transaction: Database,
  botId: string,
  { maxFiles, maxBytes }: FileLimits,
  more = { files: 0 },
): Promise<void> {
  const [row] = await query<FileUsageRow>(transaction, 'select * from file_usage where bot_id = :botId', { botId })
  const [files, bytes] = [Number(row?.files ?? 0) + more.files, Number(row?.bytes ?? 0)]
  if (files > maxFiles) {
    throw new ApiError(
      'QuotaExceeded',
      `A bot may have ${maxFiles} files: delete some, or have the operator raise BOT_FILES`,
      { metadata: { setting: 'BOT_FILES', maximum: maxFiles, requested: files } },
    )
  }
  if (bytes > maxBytes) {
    throw new ApiError(
      'QuotaExceeded',
      `The files of a bot may have ${maxBytes / megabyte} MB together, and would have ${bytes} bytes: ` +
        'delete some, or have the operator raise BOT_FILES_MB',
      { metadata: { setting: 'BOT_FILES_MB', maximum: maxBytes, requested: bytes } },
    )
  }
}

/** @throws ApiError `QuotaExceeded` when one file is larger than files may be */
export function assertFileSize(bytes: number, { maxFileBytes }: FileLimits): void {
  if (bytes <= maxFileBytes) return
  throw new ApiError(
    'QuotaExceeded',
    `A file may have ${maxFileBytes / megabyte} MB, not ${bytes} bytes: have the operator raise FILE_MB`,
    { metadata: { setting: 'FILE_MB', maximum: maxFileBytes, requested: bytes } },
  )
}

/** @throws ApiError `LimitExceeded` when a file of a visitor is larger than those may be */
export function assertVisitorFileSize(bytes: number, { maxFileBytes, visitors }: VisitorLimits): void {
  const maximum = Math.min(maxFileBytes, visitors.maxFileBytes)
  if (bytes <= maximum) return
  throw new ApiError('LimitExceeded', `A file may have ${maximum / megabyte} MB, not ${bytes} bytes`, {
    metadata: { setting: 'WEBCHAT_FILE_MB', maximum, requested: bytes },
  })
}

/**
 * Refuses an upsert of the same transaction that lets the files of a visitor (without `userId`, none is counted), or of all visitors of a web chat, exceed
 * their quotas. Visitors are strangers: without quotas of their own they could use up those of the bot. As there, a file
 * whose content never came has no bytes. The upsert has locked the bot's usage, so concurrent ones wait for its outcome.
 *
 * @throws ApiError `QuotaExceeded`
 */
export async function assertVisitorQuota(
  transaction: Database,
  where: { botId: string; installationId: string; userId: string | null },
  { visitors: { maxFiles, maxBytes } }: VisitorLimits,
): Promise<void> {
  const [row] = await query<{ files: string; bytes: string | null }>(
    transaction,
    `select count(*) filter (where user_id = :userId) as files,
       sum(case when status = 'upload_failed' then 0 else coalesce(size, declared_size) end) as bytes
     from files
     where bot_id = :botId and key_space = :installationId and (expires_at is null or expires_at > now())`,
    where,
  )
  const [files, bytes] = [Number(row?.files ?? 0), Number(row?.bytes ?? 0)]
  if (files > maxFiles) {
    throw new ApiError('QuotaExceeded', `A visitor may have ${maxFiles} files, until the first ones expire`, {
      metadata: { setting: 'WEBCHAT_VISITOR_FILES', maximum: maxFiles, requested: files },
    })
  }
  if (bytes > maxBytes) {
    throw new ApiError(
      'QuotaExceeded',
      `The visitors of a web chat may have ${maxBytes / megabyte} MB of files together, until the first ones expire`,
      { metadata: { setting: 'WEBCHAT_FILES_MB', maximum: maxBytes, requested: bytes } },
    )
  }
}
