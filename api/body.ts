import type { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { Request, Response } from 'express'
import { ApiError } from '#shared/errors.ts'
import { announcedBytes, maxIgnoredBytes } from './overload.ts'
import { parseBody } from './parse-body.ts'
import { megabyte } from '#shared/units.ts'

/** The largest body of each interface, in bytes (product specification, part 8). */
const limits: [prefix: string, bytes: number][] = [
  ['/v1/admin', 50 * megabyte],
  ['/v1/chat', megabyte],
  ['/chat', megabyte],
  ['/v1/files', megabyte],
]

const decoders = { gzip: createGunzip, deflate: createInflate, br: createBrotliDecompress }

/**
 * Reads a request's JSON body, up to the limit of its interface. A body without a content type is read as JSON. The
 * bytes held count as load of the process; `express.json` does not report them.
 *
 * @param hold counts decompressed bytes that are held, or throws
 * @returns undefined when the request has no body
 * @throws ApiError `PayloadTooLarge`, `InvalidPayload` or `UnsupportedMediaType`, or 503 when `hold` refuses the bytes
 */
export async function readBody(request: Request, response: Response, hold: (bytes: number) => void): Promise<unknown> {
  const announced = announcedBytes(request)
  if (announced === 0) return undefined
  const [, limit] = limits.find(([prefix]) => request.path.startsWith(prefix)) ?? limits[1]!
  const toText = readerOf(request)
  const decoded = decode(request, request.headers['content-encoding'])
  try {
    if (announced !== Infinity && announced > limit) throw tooLarge(limit)
    const bytes = await collect(decoded, limit, hold)
    return parseBody(toText(bytes))
  } catch (error) {
    if (decoded !== request) {
      request.unpipe()
      decoded.destroy()
    }
    // The rest of a long body is not read, so the connection cannot be reused.
    if (!request.complete && announced > maxIgnoredBytes) response.set('Connection', 'close')
    else request.resume()
    throw error
  }
}

function readerOf(request: Request): (bytes: Buffer) => string {
  const [, charset = 'utf-8'] = /;\s*charset="?([^\s;"]+)/i.exec(request.headers['content-type'] ?? '') ?? []
  try {
    const decoder = /^utf-/i.test(charset) && new TextDecoder(charset)
    if (decoder) return (bytes) => decoder.decode(bytes)
  } catch {
    // TextDecoder does not know the charset.
  }
  throw new ApiError('UnsupportedMediaType', `The charset "${charset}" is not supported: send JSON in UTF-8`)
}

function decode(request: Request, encoding = 'identity'): Readable {
  if (encoding.toLowerCase() === 'identity') return request
  const open = Object.entries(decoders).find(([name]) => name === encoding.toLowerCase())?.[1]
  if (open) return request.pipe(open())
  throw new ApiError(
    'UnsupportedMediaType',
    `The content encoding "${encoding}" is not supported: send the body uncompressed, or in gzip, deflate or br`,
  )
}

/**
 * Reads a whole stream.
 *
 * @param hold counts received bytes, or throws
 */
function collect(stream: Readable, limit: number, hold: (bytes: number) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let total = 0
    function stop(error: unknown): void {
      stream.off('data', take).pause()
      parts.length = 0
      reject(error instanceof Error ? error : new Error(String(error)))
    }
    function take(part: Buffer): void {
      total += part.length
      try {
        if (total > limit) throw tooLarge(limit)
        hold(part.length)
        parts.push(part)
      } catch (error) {
        stop(error)
      }
    }
    const breakOff = () => stop(unreadable(new Error('the connection ended before the end of the body')))
    stream
      .on('data', take)
      .once('end', () => {
        stream.off('close', breakOff)
        resolve(parts.length === 1 ? parts[0]! : Buffer.concat(parts, total))
      })
      .once('error', (error) => stop(unreadable(error)))
      .once('close', breakOff)
  })
}

function tooLarge(limit: number): ApiError {
  return new ApiError(
    'PayloadTooLarge',
    `The body is larger than ${limit / megabyte} MB, the maximum of this interface`,
  )
}

function unreadable(cause: Error): ApiError {
  return new ApiError('InvalidPayload', `The body could not be read: ${cause.message}`, { cause })
}
