import type { AbortSignal } from './abort.ts'
import { Body, toContent } from './body.ts'
import { Headers, type HeadersSource } from './headers.ts'

export interface RequestOptions {
  method?: string
  headers?: HeadersSource
  body?: unknown
  signal?: AbortSignal | null
}

/** The web's `Request`. Options about caches, cookies and redirections mean nothing here. */
export class Request extends Body {
  readonly url: string
  readonly method: string
  readonly headers: Headers
  readonly signal: AbortSignal | undefined

  constructor(input: unknown, options: RequestOptions = {}) {
    const copied = input instanceof Request ? input : undefined
    const { content, type } = toContent(options.body)
    const method = (options.method ?? copied?.method ?? 'GET').toUpperCase()
    const own = content ?? copied?.peek() ?? null
    if (own !== null && (method === 'GET' || method === 'HEAD')) throw new TypeError(`A ${method} has no body`)
    super(own)
    this.url = copied?.url ?? new URL(String(input)).href
    this.method = method
    this.headers = new Headers(options.headers ?? copied?.headers)
    if (type !== undefined && !this.headers.has('content-type')) this.headers.set('content-type', type)
    this.signal = options.signal ?? copied?.signal
  }

  clone(): Request {
    return new Request(this)
  }
}
