import { assertStreams, Blob, concatenate, streamOf } from './blob.ts'
import { takeContent } from './content-key.ts'
import { decodeUtf8, encodeUtf8 } from './encoding.ts'
import { FormData, readForm, writeMultipart } from './form-data.ts'
import type { Headers } from './headers.ts'
import { Incoming, type Form } from './incoming.ts'
import { normalMediaType } from './media-type.ts'
import { toText } from './text.ts'
import { URLSearchParams } from './url/search-params.ts'

/** The key of a method that bot code does not call. */
export const take = Symbol('take')

type Bytes = Uint8Array<ArrayBuffer>
type Stream = ReadableStream<Bytes>

/** A body that is made as it is sent, of bytes; `size` is their number, where it is known. */
export type Parts = AsyncIterable<Bytes> & { size?: number | undefined; getReader?: never }

export type Content = string | Bytes | Incoming | Stream | Parts | null

/** The common part of requests and responses: a content that can be read once. */
export abstract class Body {
  abstract readonly headers: Headers
  #content: Content
  #used = false
  /** The body of a content that has been read. */
  #spent: Stream | undefined

  constructor(content: Content) {
    this.#content = content
  }

  get body(): Stream | null {
    const content = this.#content
    if (this.#used) return (this.#spent ??= makeSpent())
    if (content === null || isStream(content)) return content
    this.#content = toStream(content)
    return this.#content
  }

  get bodyUsed(): boolean {
    return this.#used || (isStream(this.#content) && isDisturbed(this.#content))
  }

  async text(): Promise<string> {
    const content = await this[take]('text')
    const text = typeof content === 'string' ? content : decodeUtf8(content ?? new Uint8Array(0))
    return text.replace(/^\uFEFF/, '')
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text()) as unknown
  }

  async bytes(): Promise<Bytes> {
    return toBytes((await this[take]()) ?? new Uint8Array(0))
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    const bytes = await this.bytes()
    return bytes.length === bytes.buffer.byteLength ? bytes.buffer : bytes.slice().buffer
  }

  async blob(): Promise<Blob> {
    return new Blob([await this.bytes()], { type: normalMediaType(this.headers.get('content-type') ?? '') ?? '' })
  }

  async formData(): Promise<FormData> {
    return readForm(await this.bytes(), this.headers.get('content-type') ?? '')
  }

  /** Returns the content for a copy and leaves this one unused. */
  protected copyContent(): Content {
    this.#assertUnused()
    const content = this.#content
    if (isWhole(content)) return content
    const [own, other] = (content instanceof Incoming ? content : this.body!).tee()
    this.#content = own
    return other
  }

  /** Returns the content and marks it as used. */
  protected moveContent(): Content {
    this.#assertUnused()
    const content = this.#content
    this.#used = content !== null
    this.#content = null
    return content
  }

  /**
   * Reads the whole content; returns a promise only for a stream.
   *
   * @param form the preferred form
   */
  [take](form: Form = 'bytes'): string | Bytes | null | Promise<string | Bytes> {
    const content = this.moveContent()
    if (isStream(content)) this.#spent = content
    if (content instanceof Incoming) return content.readAll(form)
    return isWhole(content) ? content : readAll(content)
  }

  /** Returns the content as it is, and marks it as used. */
  [takeContent](): Content {
    return this.moveContent()
  }

  #assertUnused(): void {
    if (this.bodyUsed) throw new TypeError('The body has already been read')
    if (isStream(this.#content) && this.#content.locked) throw new TypeError('The body is being read')
  }
}

/** Reads the `body` of a request's or response's constructor: the content, and its default type. */
export function toContent(body: unknown): { content: Content; type?: string } {
  if (body === undefined || body === null) return { content: null }
  if (body instanceof URLSearchParams) {
    return { content: body.toString(), type: 'application/x-www-form-urlencoded;charset=UTF-8' }
  }
  if (body instanceof Incoming) return { content: body }
  if (body instanceof ArrayBuffer) return { content: new Uint8Array(body.slice(0)) }
  if (ArrayBuffer.isView(body)) {
    return { content: new Uint8Array(body.buffer as ArrayBuffer, body.byteOffset, body.byteLength).slice() }
  }
  if (body instanceof Blob) {
    return { content: Blob.bytesOf(body).slice(), ...(body.type !== '' && { type: body.type }) }
  }
  if (body instanceof FormData) {
    const boundary = `form-${crypto.randomUUID()}`
    return { content: writeMultipart(body, boundary), type: `multipart/form-data; boundary=${boundary}` }
  }
  if (isStream(body)) {
    if (body.locked || isDisturbed(body)) throw new TypeError('The stream has already been read')
    return { content: body }
  }
  // As in Node, bytes in any asynchronous iterable.
  if (typeof body === 'object' && Symbol.asyncIterator in body) return { content: body as Parts }
  return { content: toText(body), type: 'text/plain;charset=UTF-8' }
}

function toBytes(content: string | Bytes): Bytes {
  return typeof content === 'string' ? encodeUtf8(content) : content
}

function isStream(value: unknown): value is Stream {
  return typeof ReadableStream === 'function' && value instanceof ReadableStream
}

function isWhole(content: Content): content is string | Bytes | null {
  return content === null || typeof content === 'string' || content instanceof Uint8Array
}

function toStream(content: string | Bytes | Incoming | Parts): Stream {
  if (content instanceof Incoming) return content.toStream()
  if (isWhole(content)) return streamOf(toBytes(content))
  assertStreams()
  return (ReadableStream as unknown as { from(parts: Parts): Stream }).from(content)
}

/** A stream that is locked, because its content has been read. */
function makeSpent(): Stream {
  const stream = streamOf(new Uint8Array(0))
  void stream.getReader().cancel()
  return stream
}

/** Whether the stream has been read from. The library that makes streams exposes this only by a private property. */
function isDisturbed(stream: Stream): boolean {
  return (stream as unknown as Record<string, boolean>)['_disturbed']!
}

async function readAll(stream: Stream | Parts): Promise<Bytes> {
  const parts: Bytes[] = []
  for await (const part of stream as unknown as AsyncIterable<unknown>) {
    if (!(part instanceof Uint8Array)) throw new TypeError('The stream of a body must return Uint8Arrays')
    parts.push(part as Bytes)
  }
  return concatenate(parts)
}
