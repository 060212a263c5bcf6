import type { Context } from '../context.ts'
import { ApiError, notFound } from '../errors.ts'
import { failUpload } from '../store/file-contents.ts'
import type { StoredObject } from '../store/file-objects.ts'
import { completeUpload, findUpload } from '../store/files.ts'
import { transact } from '../store/database.ts'
import { wakeWorker } from '../signals/after-commit.ts'
import { readSignedAddress, type SignedAddress } from './file-addresses.ts'
import { discardObject, heldBytes, writeObject } from './objects.ts'

/** A content that is sent to an upload address. */
export interface Upload {
  /** The signed segment of the address. */
  token: string
  /** The number of bytes, where it is announced. */
  length: number | undefined
  /**
   * Begins to read it, once it is accepted.
   *
   * @param botId the bot whose file it is
   * @param heldBytes the bytes that it will hold in memory
   * @throws to refuse it
   */
  open(botId: string, heldBytes: number): AsyncIterable<Uint8Array>
}

/**
 * Stores the content of the file whose upsert made an address. The content goes to a new object, no faster than its store
 * accepts it, and is the file's when this resolves.
 *
 * @throws ApiError `ResourceNotFound`, `Forbidden`, `ResourceLockedConflict` for an address that is not, or no longer, valid,
 *   before the content is read; `QuotaExceeded` at the first byte beyond the file's allowance
 */
export async function receiveUpload(context: Context, upload: Upload): Promise<void> {
  const { uploads, uploadBytes } = context.metrics
  try {
    uploadBytes.inc(await storeUpload(context, upload))
    uploads.inc({ outcome: 'stored' })
  } catch (error) {
    uploads.inc({ outcome: error instanceof ApiError && error.status < 500 ? 'refused' : 'failed' })
    throw error
  }
}

/** @returns the size of the content */
async function storeUpload(context: Context, { token, length, open }: Upload): Promise<number> {
  const { db, config } = context
  const address = readAddress(context, token)
  const upload = await findUpload(db, address.fileId, address.generation, config.files)
  if (!upload) throw notFound('File', 'it was deleted since this address was made')
  const { botId, isOpen } = upload
  const allowance = Math.min(upload.allowance, address.maxBytes ?? Infinity)
  if (!isOpen) throw outdated()
  const content = open(botId, heldBytes(context, length))
  try {
    if (length !== undefined && length > allowance) throw beyond(allowance)
    const limits = { limit: allowance, length, beyond: () => beyond(allowance) }
    const object = await writeObject(context, botId, content, limits)
    const outcome = await complete(context, address, object)
    if (outcome === 'indexing') await wakeWorker(context, 'index-file', address.fileId, botId)
    return object.size
  } catch (error) {
    const isBeyond = error instanceof ApiError && error.type === 'QuotaExceeded'
    if (isBeyond) await failUpload(db, address, error.message)
    throw error
  }
}

/** @throws ApiError `ResourceNotFound` or `Forbidden` */
function readAddress({ config }: Context, token: string): SignedAddress {
  const address = readSignedAddress(config, 'upload', token)
  if (!address) throw notFound('Upload address', 'use the uploadUrl of upsertFile as it is')
  if (address.expiresAt.getTime() > Date.now()) return address
  throw new ApiError('Forbidden', 'The upload address has expired: call upsertFile again for a new one')
}

/** Makes an object the content of the file, unless another upload or upsert came first. */
async function complete(
  context: Context,
  { fileId, generation }: SignedAddress,
  object: StoredObject,
): Promise<'completed' | 'indexing'> {
  const { db, config } = context
  const { id: objectId, size, sha256 } = object
  try {
    const upload = { fileId, generation, objectId, size, sha256 }
    const outcome = await transact(db, (transaction) => completeUpload(transaction, upload, config.files))
    if (outcome === 'stale') throw outdated()
    return outcome
  } catch (error) {
    await discardObject(context, objectId, error)
    throw error
  }
}

function outdated(): ApiError {
  return new ApiError(
    'ResourceLockedConflict',
    'The upload address has been used, or the file was upserted again: call upsertFile for a new address',
  )
}

function beyond(allowance: number): ApiError {
  return new ApiError(
    'QuotaExceeded',
    `The content is larger than ${allowance} bytes, which its bot’s quotas leave for it: delete other files, or have the ` +
      'operator raise FILE_MB or BOT_FILES_MB',
  )
}
