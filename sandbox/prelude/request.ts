import type { AbortSignal } from './abort.ts'
import { Body, toContent } from './body.ts'
import { Headers, type HeadersSource } from './headers.ts'

export interface RequestOptions {
  method?: string
  headers?: HeadersSource
  body?: unknown
  redirect?: Redirect
  signal?: AbortSignal | null
}

const redirects = ['follow', 'error', 'manual'] as const
type Redirect = (typeof redirects)[number]

const methodCharacters = /^[\w!#$%&'*+.^`|~-]+$/
const forbiddenMethods = new Set(['CONNECT', 'TRACE', 'TRACK'])

/** The web's `Request`. Options about caches, cookies and origins mean nothing here. */
export class Request extends Body {
  readonly url: string
  readonly method: string
  readonly headers: Headers
  readonly redirect: Redirect
  readonly signal: AbortSignal | undefined

  constructor(input: unknown, options: RequestOptions = {}) {
    const copied = input instanceof Request ? input : undefined
    const { content, type } = toContent(options.body)
    const method = toMethod(options.method ?? copied?.method ?? 'GET')
    const redirect = options.redirect ?? copied?.redirect ?? 'follow'
    if (!redirects.includes(redirect)) throw new TypeError(`There is no redirect mode '${redirect}'`)
    const own = content ?? copied?.peek() ?? null
    if (own !== null && (method === 'GET' || method === 'HEAD')) throw new TypeError(`A ${method} has no body`)
    super(own)
    this.url = copied?.url ?? new URL(String(input)).href
    this.method = method
    this.headers = new Headers(options.headers ?? copied?.headers)
    if (type !== undefined && !this.headers.has('content-type')) this.headers.set('content-type', type)
    this.redirect = redirect
    this.signal = options.signal ?? copied?.signal
  }

  clone(): Request {
    return new Request(this)
  }
}

function toMethod(method: unknown): string {
  const text = String(method).toUpperCase()
  if (!methodCharacters.test(text) || forbiddenMethods.has(text))
    throw new TypeError(`There is no method '${text}' here`)
  return text
}
