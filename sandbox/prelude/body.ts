import { encodeUtf8, TextDecoder } from './encoding.ts'

/** The name of what bot code does not call. */
export const take = Symbol('take')

export type Content = string | Uint8Array<ArrayBuffer> | null

/** What requests and responses have in common: a content that is read once. There are no streams: `body` is null. */
export class Body {
  readonly body = null
  #content: Content
  #used = false

  constructor(content: Content) {
    this.#content = content
  }

  get bodyUsed(): boolean {
    return this.#used
  }

  async text(): Promise<string> {
    const content = this[take]()
    return typeof content === 'string' ? content.replace(/^\uFEFF/, '') : new TextDecoder().decode(content ?? undefined)
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text()) as unknown
  }

  async bytes(): Promise<Uint8Array> {
    const content = this[take]()
    return typeof content === 'string' ? encodeUtf8(content) : (content ?? new Uint8Array(0))
  }

  async arrayBuffer(): Promise<ArrayBufferLike> {
    return (await this.bytes()).buffer
  }

  /** The content, for a copy. */
  protected peek(): Content {
    if (this.#used) throw new TypeError('The body has been read already')
    return this.#content
  }

  /** The content as it is, which counts as reading it. */
  [take](): Content {
    const content = this.peek()
    if (content !== null) this.#used = true
    this.#content = null
    return content
  }
}

/** Reads what a request or a response is made with: the content, and the type that goes with it. */
export function toContent(body: unknown): { content: Content; type?: string } {
  if (body === undefined || body === null) return { content: null }
  if (typeof body === 'string') return { content: body, type: 'text/plain;charset=UTF-8' }
  if (body instanceof URLSearchParams) {
    return { content: body.toString(), type: 'application/x-www-form-urlencoded;charset=UTF-8' }
  }
  if (body instanceof ArrayBuffer) return { content: new Uint8Array(body.slice(0)) }
  if (ArrayBuffer.isView(body)) {
    return { content: Uint8Array.from(new Uint8Array(body.buffer, body.byteOffset, body.byteLength)) }
  }
  throw new TypeError('A body is text, bytes or URLSearchParams here: there are no streams, blobs or forms')
}
