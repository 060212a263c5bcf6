import { Body, toContent } from './body.ts'
import { Headers, type HeadersSource } from './headers.ts'

export interface ResponseOptions {
  status?: number
  statusText?: string
  headers?: HeadersSource
}

/** The web's `Response`. */
export class Response extends Body {
  readonly status: number
  readonly statusText: string
  readonly headers: Headers
  readonly type = 'default'
  readonly redirected = false
  readonly url: string = ''

  constructor(body?: unknown, { status = 200, statusText = '', headers }: ResponseOptions = {}) {
    if (!Number.isInteger(status) || status < 200 || status > 599) {
      throw new RangeError(`A response has a status from 200 to 599, not ${status}`)
    }
    const { content, type } = toContent(body)
    super(content)
    this.status = status
    this.statusText = statusText
    this.headers = new Headers(headers)
    if (type !== undefined && !this.headers.has('content-type')) this.headers.set('content-type', type)
  }

  static json(value: unknown, options: ResponseOptions = {}): Response {
    const headers = new Headers(options.headers)
    if (!headers.has('content-type')) headers.set('content-type', 'application/json')
    return new Response(JSON.stringify(value), { ...options, headers })
  }

  get ok(): boolean {
    return this.status <= 299
  }

  clone(): Response {
    return new Response(this.peek(), this)
  }
}
