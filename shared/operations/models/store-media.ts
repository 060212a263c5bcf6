import { contentAddress } from '../../files/file-addresses.ts'
import type { FileReference } from '../../files/find-content.ts'
import { discardObject, writeObject } from '../../files/objects.ts'
import { newId } from '../../ids.ts'
import type { PictureFormat } from '../../models/picture.ts'
import type { AudioFormat } from '../../models/speech.ts'
import type { FileRow } from '../../models/tables.ts'
import { acrossOutages } from '../../rpc/across-outages.ts'
import type { BotContext } from '../../rpc/caller.ts'
import { transact, type Database } from '../../store/database.ts'
import { findUserOfEvent } from '../../store/events.ts'
import type { StoredObject } from '../../store/file-objects.ts'
import { assertQuota, completeUpload } from '../../store/files.ts'
import { lockUser, upsertFile } from '../../store/runtime-files.ts'
import { newPublicId, ownerOf } from '../files/file-input.ts'

export type MediaFormat = PictureFormat | AudioFormat

const files: Record<MediaFormat, { contentType: string; extension: string }> = {
  png: { contentType: 'image/png', extension: 'png' },
  jpeg: { contentType: 'image/jpeg', extension: 'jpg' },
  webp: { contentType: 'image/webp', extension: 'webp' },
  mp3: { contentType: 'audio/mpeg', extension: 'mp3' },
  opus: { contentType: 'audio/ogg', extension: 'opus' },
  aac: { contentType: 'audio/aac', extension: 'aac' },
  flac: { contentType: 'audio/flac', extension: 'flac' },
  pcm: { contentType: 'audio/pcm', extension: 'pcm' },
  wav: { contentType: 'audio/wav', extension: 'wav' },
}

/** A content that a model has made. */
export interface Media {
  bytes: Uint8Array
  format: MediaFormat
  /** The model that made it, as `provider:model`. */
  model: string
  days: number
}

/** Days for which the file of an answer that has the content itself is kept, for repeated runs. */
export const daysOfContent = 1

/** The content of a file that `storeMedia` has made. */
export function contentOf({ fileId }: { fileId: string }): FileReference {
  return { fileId, generation: 1 }
}

const dayMilliseconds = 24 * 3600 * 1000

/** Refuses a call whose file the quotas of the bot leave no room for, before it is paid. @throws ApiError `QuotaExceeded` */
export async function assertRoom({ db, caller, config }: BotContext): Promise<void> {
  await assertQuota(db, caller.botId, config.files, { files: 1 })
}

/**
 * Stores a content as a file of the bot, which everybody reads who has its address, until it expires. It is deleted with the user of
 * the event in which the model was called. An outage of the database is waited for, because the content is paid for.
 *
 * @throws ApiError `QuotaExceeded`
 */
export async function storeMedia(context: BotContext, media: Media): Promise<{ fileId: string; url: string }> {
  const row = await acrossOutages(context, () => store(context, media))
  return { fileId: row.id, url: contentAddress(context.config, row) }
}

async function store(context: BotContext, media: Media): Promise<FileRow> {
  const { caller, db, config } = context
  const limit = config.files.maxFileBytes
  const length = media.bytes.byteLength
  const object = await writeObject(context, caller.botId, oneChunk(media.bytes), { limit, length })
  try {
    const userId = caller.execution && (await findUserOfEvent(db, caller.execution.eventId))
    return await transact(db, async (transaction) => {
      const row = await insertFile(transaction, context, { media, object, userId })
      await completeUpload(transaction, { ...object, objectId: object.id, fileId: row.id, generation: 1 }, config.files)
      return row
    })
  } catch (error) {
    await discardObject(context, object.id, error)
    throw error
  }
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

async function insertFile(
  transaction: Database,
  { caller, config }: BotContext,
  { media, object, userId }: { media: Media; object: StoredObject; userId: string | undefined },
): Promise<FileRow> {
  const isThere = userId !== undefined && (await lockUser(transaction, userId))
  const id = newId('file')
  const { contentType, extension } = files[media.format]
  const { row } = await upsertFile(transaction, caller, {
    id,
    owner: { ...ownerOf(caller), ...(isThere && { userId }) },
    key: `models/${id}.${extension}`,
    declaredSize: object.size,
    contentType,
    tags: { source: 'model', model: media.model },
    metadata: {},
    accessPolicies: ['public_content'],
    index: false,
    indexing: undefined,
    publicId: newPublicId(),
    expiresAt: new Date(Date.now() + media.days * dayMilliseconds),
  })
  await assertQuota(transaction, caller.botId, config.files)
  return row
}
