import type { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { Request } from 'express'
import { ApiError } from '#shared/errors.ts'
import type { FormBody } from '#shared/rpc/form-file.ts'
import type { LargeList } from '#shared/rpc/large-list.ts'
import { decodeBody } from './body-text.ts'
import { endUnread } from './end-unread.ts'
import { parseForm } from './form-body.ts'
import { ListBody } from './list-body.ts'
import { announcedBytes, maxIgnoredBytes } from './overload.ts'
import { parseBody } from '#shared/json/parse-body.ts'
import { megabyte } from '#shared/units.ts'

/** The largest body of each interface, in bytes (product specification, part 8). */
const limits: [prefix: string, bytes: number][] = [
  ['/v1/admin', 50 * megabyte],
  ['/v1/chat', megabyte],
  ['/chat', megabyte],
  ['/webchat', megabyte],
  ['/mcp', megabyte],
  ['/v1/files', megabyte],
  // Pictures are a part of the messages.
  ['/v2/cognitive', 8 * megabyte],
  ['/api/v1', megabyte],
]

const decoders = { gzip: createGunzip, deflate: createInflate, br: createBrotliDecompress }

interface BodyReading {
  /** The list of the body that is kept in JSON, a `JsonList`, so that the body may be larger. */
  largeList: LargeList | undefined
  /** The body is a form with a file. */
  form?: FormBody | undefined
  /** Counts decompressed bytes that are held, or throws. */
  hold(bytes: number): void
  /** Parses a body of more than a megabyte outside of the event loop. Absent where bodies are not larger. */
  parseLarge?: (bytes: Uint8Array<ArrayBuffer>, encoding: string) => Promise<unknown>
}

/**
 * Reads a request's JSON body, or the form of an operation that takes one, up to the limit of its interface. A body without a content type is read as JSON. The
 * bytes held count as load of the process; `express.json` does not report them.
 *
 * @returns undefined when the request has no body
 * @throws ApiError `PayloadTooLarge`, `InvalidPayload` or `UnsupportedMediaType`, or 503 when `hold` refuses the bytes
 */
export async function readBody(request: Request, { largeList, form, hold, parseLarge }: BodyReading): Promise<unknown> {
  const announced = announcedBytes(request)
  if (announced === 0) return undefined
  const [, ofInterface] = limits.find(([prefix]) => request.path.startsWith(prefix)) ?? limits[1]!
  const limit = largeList?.maxBytes ?? form?.maxBytes ?? ofInterface
  const decoder = decoderOf(request)
  const decoded = decode(request, request.headers['content-encoding'])
  try {
    if (announced !== Infinity && announced > limit) throw tooLarge(limit)
    if (largeList) {
      const body = new ListBody(largeList)
      await collect(decoded, { limit, hold, keep: (part) => body.take(toUtf8(decoder, part)) })
      body.take(toUtf8(decoder))
      return body.end()
    }
    const parts: Buffer[] = []
    await collect(decoded, { limit, hold, keep: (part) => parts.push(part) })
    if (form) return await parseForm(parts, request.headers['content-type'] ?? '', form)
    const bytes = Buffer.concat(parts)
    if (parseLarge && bytes.length > megabyte) return await parseLarge(bytes, decoder.encoding)
    return parseBody(decodeBody(decoder, bytes))
  } catch (error) {
    if (decoded !== request) {
      request.unpipe()
      decoded.destroy()
    }
    if (announced > maxIgnoredBytes) endUnread(request)
    else request.resume()
    throw error
  }
}

function decoderOf(request: Request): InstanceType<typeof TextDecoder> {
  const [, charset = 'utf-8'] = /;\s*charset="?([^\s;"]+)/i.exec(request.headers['content-type'] ?? '') ?? []
  try {
    if (/^utf-/i.test(charset)) return new TextDecoder(charset, { fatal: true })
  } catch {
    // TextDecoder does not know the charset.
  }
  throw new ApiError('UnsupportedMediaType', `The charset "${charset}" is not supported: send JSON in UTF-8`)
}

/** @param part of the body; the rest of it when absent */
function toUtf8(decoder: InstanceType<typeof TextDecoder>, part?: Buffer): Buffer {
  if (decoder.encoding === 'utf-8') return part ?? Buffer.alloc(0)
  return Buffer.from(decodeBody(decoder, part, { stream: part !== undefined }))
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

interface Collecting {
  limit: number
  hold(bytes: number): void
  /** Is called with each part, and may throw. */
  keep(part: Buffer): void
}

/**
 * Taking parts pauses after this time, for as long: several parts arrive in one turn of the event loop, and the answer to
 * another request takes several turns.
 */
const turnMilliseconds = 5

/** Reads a whole stream. */
function collect(stream: Readable, { limit, hold, keep }: Collecting): Promise<void> {
  return new Promise((resolve, reject) => {
    let total = 0
    let spent = 0
    let resuming: NodeJS.Timeout | undefined
    function stop(error: unknown): void {
      clearTimeout(resuming)
      stream.off('data', take).pause()
      reject(error instanceof Error ? error : new Error(String(error)))
    }
    function take(part: Buffer): void {
      const begin = performance.now()
      total += part.length
      try {
        if (total > limit) throw tooLarge(limit)
        hold(part.length)
        keep(part)
      } catch (error) {
        return stop(error)
      }
      spent += performance.now() - begin
      if (spent < turnMilliseconds) return
      spent = 0
      stream.pause()
      resuming = setTimeout(() => stream.resume(), turnMilliseconds)
    }
    const breakOff = () => stop(unreadable(new Error('the connection ended before the end of the body')))
    stream
      .on('data', take)
      .once('end', () => {
        stream.off('close', breakOff)
        resolve()
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
