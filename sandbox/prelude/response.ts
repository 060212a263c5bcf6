import { Body, toContent } from './body.ts'
import { Headers, type HeadersSource } from './headers.ts'
import type { Incoming } from './incoming.ts'
import { toText } from './text.ts'
import { URL } from './url/url.ts'

export interface ResponseOptions {
  status?: number
  statusText?: string
  headers?: HeadersSource
}

/** The origin of a response. */
export interface ResponseSource {
  url: string
  redirected: boolean
}

const statusesWithoutBody = new Set([204, 205, 304])
const redirectStatuses = new Set([301, 302, 303, 307, 308])
const wrongInStatusTexts = /[^\t\x20-\x7e\x80-\xff]/

/** The web's `Response`. */
export class Response extends Body {
  readonly status: number
  readonly statusText: string
  readonly headers: Headers
  readonly type: 'default' | 'basic' | 'error'
  readonly redirected: boolean
  readonly url: string
  readonly #source: ResponseSource | undefined

  /** @param source absent for a response that bot code constructs */
  constructor(body?: unknown, options: ResponseOptions | null = {}, source?: ResponseSource) {
    const { status: given = 200, statusText = '', headers } = options ?? {}
    const status = Math.trunc(given)
    // As in Node, servers are free to answer with 999, as some do to programs.
    if (!source && !(status >= 200 && status <= 599)) {
      throw new RangeError(`The status of a response must be from 200 to 599, not ${given}`)
    }
    if (wrongInStatusTexts.test(statusText)) throw new TypeError('The status text contains invalid characters')
    const { content, type } = toContent(body)
    if (content !== null && statusesWithoutBody.has(status)) {
      throw new TypeError(`A response with the status ${status} must not have a body`)
    }
    super(content)
    this.status = status
    this.statusText = toText(statusText)
    this.headers = new Headers(headers)
    this.type = source ? 'basic' : 'default'
    this.redirected = source?.redirected ?? false
    this.url = source?.url ?? ''
    this.#source = source
    if (!source && type !== undefined && !this.headers.has('content-type')) this.headers.set('content-type', type)
  }

  /** Makes the response to a request. */
  static of(
    content: string | Uint8Array<ArrayBuffer> | Incoming,
    options: ResponseOptions,
    source: ResponseSource,
  ): Response {
    const isEmpty = statusesWithoutBody.has(options.status ?? 200)
    return new Response(isEmpty ? null : content, options, source)
  }

  static json(value: unknown, options: ResponseOptions = {}): Response {
    const text = JSON.stringify(value) as string | undefined
    if (text === undefined) throw new TypeError('The value cannot be converted to JSON')
    const headers = new Headers(options.headers)
    if (!headers.has('content-type')) headers.set('content-type', 'application/json')
    return new Response(text, { ...options, headers })
  }

  static redirect(url: unknown, status = 302): Response {
    const location = new URL(url).href
    if (!redirectStatuses.has(status)) throw new RangeError(`${status} is not the status of a redirect`)
    return new Response(null, { status, headers: { location } })
  }

  static error(): Response {
    const response = new Response(null)
    Object.assign(response, { status: 0, type: 'error' })
    return response
  }

  get ok(): boolean {
    return this.status >= 200 && this.status <= 299
  }

  clone(): Response {
    return new Response(this.copyContent(), this, this.#source)
  }

  get [Symbol.toStringTag](): string {
    return 'Response'
  }
}
