import { Body, toContent } from './body.ts'
import { Headers, type HeadersSource } from './headers.ts'

export interface ResponseOptions {
  status?: number
  statusText?: string
  headers?: HeadersSource
}

/** Where a response came from. */
export interface ResponseSource {
  url: string
  redirected: boolean
}

/** The web's `Response`. */
export class Response extends Body {
  readonly status: number
  readonly statusText: string
  readonly headers: Headers
  readonly type: 'default' | 'basic'
  readonly redirected: boolean
  readonly url: string
  readonly #source: ResponseSource | undefined

  /** @param source unless it is made by whoever uses it */
  constructor(body?: unknown, options: ResponseOptions = {}, source?: ResponseSource) {
    const { status = 200, statusText = '', headers } = options
    if (!Number.isInteger(status) || status < 200 || status > 599) {
      throw new RangeError(`A response has a status from 200 to 599, not ${status}`)
    }
    const { content, type } = toContent(body)
    super(content)
    this.status = status
    this.statusText = statusText
    this.headers = new Headers(headers)
    this.type = source ? 'basic' : 'default'
    this.redirected = source?.redirected ?? false
    this.url = source?.url ?? ''
    this.#source = source
    if (!source && type !== undefined && !this.headers.has('content-type')) this.headers.set('content-type', type)
  }

  static json(value: unknown, options: ResponseOptions = {}): Response {
    const headers = new Headers(options.headers)
    if (!headers.has('content-type')) headers.set('content-type', 'application/json')
    return new Response(JSON.stringify(value), { ...options, headers })
  }

  get ok(): boolean {
    return this.status >= 200 && this.status <= 299
  }

  clone(): Response {
    return new Response(this.peek(), this, this.#source)
  }
}
