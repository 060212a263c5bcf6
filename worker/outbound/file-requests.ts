import type { FetchRequest } from '#sandbox/protocol/contract.ts'
import type { Context } from '#shared/context.ts'
import { ApiError } from '#shared/errors.ts'
import { readRange } from '#shared/files/byte-range.ts'
import { findContentAt } from '#shared/files/find-content.ts'
import { readObject } from '#shared/files/objects.ts'
import { receiveUpload } from '#shared/files/receive-upload.ts'
import { decodeSegment } from '#shared/router.ts'
import { OutboundError } from './errors.ts'
import type { OutboundResponse } from './open-outbound.ts'

/**
 * Requests of bot code for contents of files. The platform's own address cannot be requested, and nobody grants it, but
 * `client.uploadFile` and `fetch(file.url)` do request it: the worker answers them itself, from the object store. As over
 * HTTP, the address is the only credential.
 */

/** A request for the platform's own files, by the segments of its path below `/files/`. */
export interface FileRequest {
  url: string
  method: string
  segments: string[]
  /** Those of its headers that it is answered by. */
  range: string | undefined
  ifRange: string | undefined
}

/** The body of a request. */
export interface RequestContent {
  /** In bytes, where it is known. */
  length: number | undefined
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>
}

interface HeldContent extends RequestContent {
  /** @throws OutboundError `busy` when there is no room for so many bytes */
  hold(bytes: number): void
}

/** Undefined when the request goes anywhere else. */
export function fileRequestOf(
  { config }: Pick<Context, 'config'>,
  { url, method, headers }: FetchRequest,
): FileRequest | undefined {
  const target = URL.parse(url)
  const files = new URL(`${config.http.baseUrl}/files/`)
  if (target?.origin !== files.origin || !target.pathname.startsWith(files.pathname)) return undefined
  const given = new Headers(headers)
  return {
    url: target.href,
    method,
    segments: target.pathname.slice(files.pathname.length).split('/'),
    range: given.get('range') ?? undefined,
    ifRange: given.get('if-range') ?? undefined,
  }
}

/**
 * Answers as the api does.
 *
 * @param body of the request
 * @param maxBytes the limit of a response
 * @throws OutboundError `too-large`
 */
export async function answerFileRequest(
  context: Context,
  request: FileRequest,
  body: HeldContent,
  maxBytes: number,
): Promise<OutboundResponse> {
  try {
    return await carryOut(context, request, body, maxBytes)
  } catch (cause) {
    if (cause instanceof OutboundError) throw cause
    const error = ApiError.from(cause)
    if (error.status >= 500)
      context.log.error({ err: cause, errorId: error.id }, 'A request of bot code for a file failed')
    return respond(request, error.status, { 'content-type': 'application/json' }, [Buffer.from(JSON.stringify(error))])
  }
}

async function carryOut(
  context: Context,
  request: FileRequest,
  content: HeldContent,
  maxBytes: number,
): Promise<OutboundResponse> {
  const { method, segments } = request
  const [first = '', token = '', ...rest] = segments
  if (method === 'PUT' && first === 'upload' && rest.length === 0) {
    const open = (_botId: string, heldBytes: number) => {
      content.hold(heldBytes)
      return sentBy(content)
    }
    await receiveUpload(context, { token, length: content.length, open })
    return respond(request, 200, {}, [])
  }
  if (method !== 'GET' && method !== 'HEAD') {
    throw new ApiError('MethodNotFound', `${method} is not a method of the address of a file`)
  }
  const { object, contentType } = await findContentAt(context, decodeSegment(first))
  const etag = `"${object.sha256}"`
  const headers = { 'content-type': contentType, etag, 'accept-ranges': 'bytes' }
  const range = readRange(request, object.size, etag)
  if (range === 'unsatisfiable') {
    throw new ApiError('InvalidPayload', `The range is outside of the content’s ${object.size} bytes`, { status: 416 })
  }
  const length = range ? range.end - range.start + 1 : object.size
  const described = {
    ...headers,
    'content-length': String(length),
    ...(range && { 'content-range': `bytes ${range.start}-${range.end}/${object.size}` }),
  }
  const status = range ? 206 : 200
  if (method === 'HEAD' || length === 0) return respond(request, status, described, [])
  if (length > maxBytes) {
    throw new OutboundError(
      'too-large',
      `The answer would have ${length} bytes, and may have ${maxBytes}: read the file in ranges`,
    )
  }
  return respond(request, status, described, readObject(context, object, range))
}

function respond(
  { url }: FileRequest,
  status: number,
  headers: Record<string, string>,
  body: Iterable<Buffer> | AsyncIterable<Buffer>,
): OutboundResponse {
  const reading = passOn(body)
  return {
    status,
    statusText: '',
    headers,
    body: reading,
    url,
    limitIdleness() {},
    [Symbol.dispose]: () => void reading.return(undefined),
  }
}

/** A failure of code to make its body is none of the platform. */
export async function* sentBy({ chunks }: RequestContent): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks
  } catch (cause) {
    throw new OutboundError('aborted', 'The body of the request ended early', { cause })
  }
}

async function* passOn(body: Iterable<Buffer> | AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* body
  } catch (error) {
    throw OutboundError.from(error, 'the platform')
  }
}
