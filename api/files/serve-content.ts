import { pipeline } from 'node:stream/promises'
import type { Request, Response } from 'express'
import type { Context } from '#shared/context.ts'
import { ApiError } from '#shared/errors.ts'
import { fileName } from '#shared/files/file-addresses.ts'
import type { ByteRange } from '#shared/files/object-store.ts'
import { readRange } from '#shared/files/byte-range.ts'
import { findContentAt } from '#shared/files/find-content.ts'
import { readObject } from '#shared/files/objects.ts'
import type { FileContent } from '#shared/store/file-contents.ts'
import { addLogFields } from '#shared/telemetry/log-scope.ts'
import type { Overload } from '../overload.ts'
import { assertHarmless, contentHeaders } from './content-headers.ts'

/** Memory of one answer: pieces of the content, in the stream from the store and on the connection. */
const heldBytes = 256 * 1024
/** A client that takes nothing for this long has gone. */
const idleMilliseconds = 60_000

/**
 * `GET /files/{public id or token}/{name}`: the content of a file, whole or one range of it. The name is for programs that
 * name a download after its address, and is not looked at.
 */
export async function serveContent(
  context: Context,
  overload: Overload,
  request: Request<{ address: string }>,
  response: Response,
): Promise<void> {
  addLogFields({ operation: 'files.content' })
  const content = await findContentAt(context, request.params.address)
  addLogFields({ botId: content.botId })
  assertHarmless(request)
  const { object } = content
  const etag = `"${object.sha256}"`
  response.set({ ...contentHeaders(content.contentType, fileName(content.key)), ETag: etag, 'Accept-Ranges': 'bytes' })
  if (isKnown(request, etag)) return void response.status(304).end()

  const given = { range: request.get('range'), ifRange: request.get('if-range') }
  const range = readRange(given, object.size, etag)
  if (range === 'unsatisfiable') {
    response.set('Content-Range', `bytes */${object.size}`)
    throw new ApiError('InvalidPayload', `The range is outside of the content’s ${object.size} bytes`, { status: 416 })
  }
  const length = range ? range.end - range.start + 1 : object.size
  response.status(range ? 206 : 200).set('Content-Length', String(length))
  if (range) response.set('Content-Range', `bytes ${range.start}-${range.end}/${object.size}`)
  if (request.method === 'HEAD' || length === 0) return void response.end()

  await send(context, overload, { content, range, length }, response)
}

/** Sends a content as the answer of an operation. */
export async function sendContent(
  context: Context,
  overload: Overload,
  content: FileContent,
  response: Response,
): Promise<void> {
  const { size: length } = content.object
  response.set({ 'Content-Type': content.contentType, 'Content-Length': String(length), 'Cache-Control': 'no-store' })
  await send(context, overload, { content, length }, response)
}

/** Whether the client has this content already. A client that asks caches on its way to ask again does have it. */
function isKnown(request: Request, etag: string): boolean {
  const known = request.get('if-none-match') ?? ''
  return known === '*' || known.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
}

async function send(
  context: Context,
  overload: Overload,
  { content, range, length }: { content: FileContent; range?: ByteRange | undefined; length: number },
  response: Response,
): Promise<void> {
  const { object, botId } = content
  overload.hold(response, Math.min(length, heldBytes), botId)
  response.setTimeout(idleMilliseconds, () => response.destroy())
  try {
    await pipeline(readObject(context, object, range), response)
  } catch (error) {
    // A client that has gone is no failure of the platform; one that is still there learns of it by the missing bytes.
    const isGone = error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE'
    if (!isGone) context.log.warn({ err: error, objectId: object.id }, 'Sending the content of a file failed')
    response.destroy()
  }
}
