import { Readable } from 'node:stream'
import { AwsClient } from 'aws4fetch'
import type { Dispatcher } from 'undici'
import type { S3Settings } from '../config/s3-settings.ts'
import { completeResponses } from '../connectivity/complete-responses.ts'
import { notFound, unavailable, type ApiError } from '../errors.ts'
import { partsOf } from '../store/parts.ts'
import type { ByteRange, ObjectStore } from './object-store.ts'
import { megabyte } from '../units.ts'

/** The part of a content of unknown length that is held in memory: S3 accepts no smaller one but the last. */
export const s3PartBytes = 5 * megabyte

/** Memory of the transfer of a content of known length: the buffers of two connections. */
export const s3StreamBytes = 256 * 1024

/** The largest content of one PUT. */
const maxPutBytes = 5 * 1024 ** 3
/** A store that neither answers nor sends for this long is unavailable. */
const silenceMilliseconds = 60_000

/** Upper bound of an answer that is read whole: of a list of 1000 uploads, and of an error. */
const maxTextBytes = megabyte

/** Answers of stores that do not list uploads in parts, or not to this key; a rule of the bucket has to end those. */
const notOffered = [403, 404, 405, 501]

/** Objects in a bucket, by path-style addresses, which all S3-compatible stores accept. */
export function s3ObjectStore(settings: S3Settings): ObjectStore {
  const send = sender(settings)

  async function put(id: string, content: AsyncIterable<Uint8Array> | Buffer, length: number): Promise<void> {
    const body = Buffer.isBuffer(content) ? content : Readable.from(content, { objectMode: false })
    await drained(await send('PUT', id, { headers: { 'content-length': String(length) }, body }))
  }

  async function putInParts(id: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    const parts = partsOf(content, s3PartBytes)
    const { value: first = Buffer.alloc(0) } = await parts.next()
    if (first.length < s3PartBytes) return put(id, first, first.length)
    const uploadId = elementOf(await textOf(await send('POST', id, { query: { uploads: '' } })), 'UploadId')
    if (uploadId === '') throw new Error('The object store begins no upload in parts')
    try {
      const tags: string[] = []
      const putPart = async (part: Buffer) => {
        const query = { partNumber: String(tags.length + 1), uploadId }
        const headers = { 'content-length': String(part.length) }
        const answer = await drained(await send('PUT', id, { query, headers, body: part }))
        tags.push(String(answer.headers['etag']))
      }
      await putPart(first)
      for await (const part of parts) await putPart(part)
      const list = tags.map((tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag}</ETag></Part>`)
      const body = Buffer.from(`<CompleteMultipartUpload>${list.join('')}</CompleteMultipartUpload>`)
      const headers = { 'content-length': String(body.length), 'content-type': 'application/xml' }
      assertDone(
        await textOf(await send('POST', id, { query: { uploadId }, headers, body })),
        'CompleteMultipartUpload',
      )
    } catch (error) {
      await abort(id, uploadId).catch(() => {})
      throw error
    }
  }

  async function abort(id: string, uploadId: string): Promise<void> {
    await drained(await send('DELETE', id, { query: { uploadId }, tolerated: [404] }))
  }

  /** Ends uploads in parts that a killed process has left: no listing of objects shows them, but they take space. */
  async function abortUploads(id: string): Promise<void> {
    const listed = await send('GET', '', { query: { uploads: '', prefix: id }, tolerated: notOffered })
    const uploads = await textOf(listed)
    for (const [, uploadId = ''] of uploads.matchAll(/<UploadId>([^<]+)<\/UploadId>/g)) await abort(id, uploadId)
  }

  return {
    async write(id, content, length) {
      if (length !== undefined && length <= maxPutBytes) await put(id, content, length)
      else await putInParts(id, content)
    },

    read: ({ id, size }, range) => Readable.from(readBytes(send, id, size, range), { objectMode: false }),

    async copy({ id }, to) {
      const source = `/${settings.bucket}/${id}`
      const headers = { 'x-amz-copy-source': source, 'content-length': '0' }
      assertDone(await textOf(await send('PUT', to, { headers })), 'CopyObject')
    },

    async remove(id) {
      await abortUploads(id)
      await drained(await send('DELETE', id, { tolerated: [404] }))
    },
  }
}

async function* readBytes(send: Send, id: string, size: number, range?: ByteRange): AsyncGenerator<Buffer> {
  if (size === 0) return
  const { start, end } = range ?? { start: 0, end: size - 1 }
  const { headers, body } = await send('GET', id, { ...(range && { headers: { range: `bytes=${start}-${end}` } }) })
  try {
    const length = Number(headers['content-length'])
    if (length !== end - start + 1)
      throw new Error(`The object store sends ${length} bytes of ${id}, from ${start} to ${end}`)
    yield* body as AsyncIterable<Buffer>
  } catch (error) {
    throw toUnavailable(error)
  } finally {
    body.destroy()
  }
}

interface Options {
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: Buffer | Readable
  /** Statuses that are no errors here. */
  tolerated?: number[]
}

type Send = (method: Dispatcher.HttpMethod, id: string, options?: Options) => Promise<Dispatcher.ResponseData>

/** Sends signed requests, whose bodies are not part of the signature: it would take a second reading of them. */
function sender({ bucket, endpoint, region, accessKeyId, secretAccessKey }: S3Settings): Send {
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3' })
  let dispatcher: Dispatcher | undefined
  return async (method, id, { query = {}, headers = {}, body, tolerated = [] } = {}) => {
    const url = new URL(`${endpoint}/${bucket}/${id}`)
    url.search = new URLSearchParams(query).toString()
    const signed = await client.sign(url.href, { method, headers })
    // Its modules are a tenth of what the api loads at its start, and most platforms have no bucket.
    const { Agent, request } = await import('undici')
    dispatcher ??= new Agent().compose(completeResponses)
    const answer = await request(signed.url, {
      dispatcher,
      method,
      headers: { ...Object.fromEntries(signed.headers), ...headers },
      ...(body && { body }),
      headersTimeout: silenceMilliseconds,
      bodyTimeout: silenceMilliseconds,
    }).catch((error: unknown) => {
      throw toUnavailable(error)
    })
    // The reader of a body receives its failure; without a reader, the failure must not end the process.
    answer.body.on('error', () => {})
    const { statusCode: status } = answer
    if (status < 300 || tolerated.includes(status)) return answer
    // A body that cannot be read does not hide the status.
    const text = await textOf(answer).catch(() => '')
    throw failure(status, id, text)
  }
}

function failure(status: number, id: string, text: string): Error {
  const code = elementOf(text, 'Code')
  const cause = new Error(`The object store answered ${status} ${code}`)
  if (status === 404 && code !== 'NoSuchBucket') return notFound(`Content '${id}'`, 'it was removed', { cause })
  return status !== 429 && status < 500 ? cause : storeUnavailable(cause)
}

function storeUnavailable(cause: unknown): ApiError {
  return unavailable('The object store of file contents is unavailable: try again soon', {
    cause,
    retryAfterSeconds: 2,
  })
}

/** Codes of undici for a store that is silent, or closes the connection within an answer. */
const silences = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_SOCKET',
])

function toUnavailable(error: unknown): unknown {
  const isSilent = error instanceof Error && 'code' in error && silences.has(String(error.code))
  return isSilent ? storeUnavailable(error) : error
}

async function drained(answer: Dispatcher.ResponseData): Promise<Dispatcher.ResponseData> {
  await answer.body.dump()
  return answer
}

async function textOf({ body }: Dispatcher.ResponseData): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  // Leaving the loop closes the connection.
  for await (const part of body as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > maxTextBytes) throw new Error(`The object store answers with more than ${maxTextBytes} bytes of text`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

/** The text of the first element of this name in an answer; empty when there is none. */
function elementOf(xml: string, name: string): string {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? ''
}

/**
 * Stores answer 200 before they do what takes long, and put an error, or nothing at all, where the result would be.
 *
 * @throws Error unless an answer has the result
 */
function assertDone(xml: string, action: 'CompleteMultipartUpload' | 'CopyObject'): void {
  if (new RegExp(`<(?:\\w+:)?${action}Result[\\s/>]`).test(xml)) return
  throw new Error(`The object store failed: ${elementOf(xml, 'Code') || `it answers without a result of ${action}`}`)
}
