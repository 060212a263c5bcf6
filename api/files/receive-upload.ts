import type { Request, Response } from 'express'
import type { Context } from '#shared/context.ts'
import { ApiError, notFound } from '#shared/errors.ts'
import { readSignedAddress, type SignedAddress } from '#shared/files/file-addresses.ts'
import { heldBytes, removeObject, writeObject } from '#shared/files/objects.ts'
import { failUpload } from '#shared/store/file-contents.ts'
import type { StoredObject } from '#shared/store/file-objects.ts'
import { completeUpload, findUpload } from '#shared/store/files.ts'
import { addLogFields } from '#shared/telemetry/log-scope.ts'
import { announcedBytes, type Overload } from '../overload.ts'
import { chunksInTime } from './chunks-in-time.ts'
import { endUnread } from './end-unread.ts'

/**
 * `PUT /files/upload/{token}`: stores the body as the content of the file whose upsert made the address, and answers when it
 * is committed. The body goes to a new object, no faster than its store accepts it, and is never held whole.
 *
 * @throws ApiError `ResourceNotFound`, `Forbidden`, `ResourceLockedConflict` for an address that is not, or no longer, valid,
 *   before the body is read; `QuotaExceeded` at the first byte beyond the file's allowance
 */
export async function receiveUpload(
  context: Context,
  overload: Overload,
  request: Request<{ token: string }>,
  response: Response,
): Promise<void> {
  addLogFields({ operation: 'files.upload' })
  try {
    await receive(context, overload, request, response)
  } catch (error) {
    // A client that has gone gets no answer.
    if (request.destroyed && !request.complete) return
    endUnread(request)
    throw error
  }
  response.status(200).end()
}

async function receive(
  context: Context,
  overload: Overload,
  request: Request<{ token: string }>,
  response: Response,
): Promise<void> {
  const { db, config } = context
  const address = readAddress(context, request.params.token)
  const upload = await findUpload(db, address.fileId, address.generation, config.files)
  if (!upload) throw notFound('File', 'it was deleted since this address was made')
  const { botId, allowance, isOpen } = upload
  addLogFields({ botId })
  if (!isOpen) throw outdated()
  const announced = announcedBytes(request)
  const length = announced === Infinity ? undefined : announced
  overload.hold(response, heldBytes(context, length), botId)
  try {
    if (length !== undefined && length > allowance) throw beyond(allowance)
    const content = chunksInTime(request, response)
    const limits = { limit: allowance, length, beyond: () => beyond(allowance) }
    await complete(context, address, await writeObject(context, botId, content, limits))
  } catch (error) {
    const isBeyond = error instanceof ApiError && error.type === 'QuotaExceeded'
    if (isBeyond) await failUpload(db, address, error.message)
    throw error
  }
}

/** Makes an object the content of the file, unless another upload or upsert came first. */
async function complete(context: Context, { fileId, generation }: SignedAddress, object: StoredObject): Promise<void> {
  const { db, config } = context
  const { id: objectId, size, sha256 } = object
  try {
    const upload = { fileId, generation, objectId, size, sha256 }
    const outcome = await db.transaction((transaction) => completeUpload(transaction, upload, config.files))
    if (outcome === 'stale') throw outdated()
  } catch (error) {
    await removeObject(context, objectId)
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
