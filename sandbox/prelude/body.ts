import { Blob, concatenate, streamOf } from './blob.ts'
import { decodeUtf8, encodeUtf8 } from './encoding.ts'
import { FormData, readForm, writeMultipart } from './form-data.ts'
import type { Headers } from './headers.ts'
import { Incoming, type Form } from './incoming.ts'
import { toText } from './text.ts'
import { URLSearchParams } from './url/search-params.ts'

/** The keys of methods that bot code does not call. */
export const take = Symbol('take')
export const takeContent = Symbol('takeContent')

type Bytes = Uint8Array<ArrayBuffer>
type Stream = ReadableStream<Bytes>

export type Content = string | Bytes | Incoming | Stream | null

/** The common part of requests and responses: a content that can be read once. */
export abstract class Body {
  abstract readonly headers: Headers
  #content: Content
  #used = false

  constructor(content: Content) {
    this.#content = content
  }

  get body(): Stream | null {
    const content = this.#content
    if (content === null || isStream(content)) return content
    this.#content = content instanceof Incoming ? content.toStream() : streamOf(toBytes(content))
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
    return new Blob([await this.bytes()], { type: this.headers.get('content-type') ?? '' })
  }

  async formData(): Promise<FormData> {
    return readForm(await this.bytes(), this.headers.get('content-type') ?? '')
  }

  /** Returns the content for a copy and leaves this one unused. */
  protected copyContent(): Content {
    this.#assertUnused()
    const content = this.#content
    if (!(content instanceof Incoming) && !isStream(content)) return content
    const [own, other] = content.tee()
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
    if (content instanceof Incoming) return content.readAll(form)
    return isStream(content) ? readAll(content) : content
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
  return { content: toText(body), type: 'text/plain;charset=UTF-8' }
}

function toBytes(content: string | Bytes): Bytes {
  return typeof content === 'string' ? encodeUtf8(content) : content
}

function isStream(value: unknown): value is Stream {
  return typeof ReadableStream === 'function' && value instanceof ReadableStream
}

/** Whether the stream has been read from. The library that makes streams exposes this only by a private property. */
function isDisturbed(stream: Stream): boolean {
  return (stream as unknown as Record<string, boolean>)['_disturbed']!
}

async function readAll(stream: Stream): Promise<Bytes> {
  const parts: Bytes[] = []
  for await (const part of stream as unknown as AsyncIterable<unknown>) {
    if (!(part instanceof Uint8Array)) throw new TypeError('The stream of a body must return Uint8Arrays')
    parts.push(part as Bytes)
  }
  return concatenate(parts)
}
