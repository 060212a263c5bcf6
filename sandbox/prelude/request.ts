import { AbortController, type AbortSignal } from './abort.ts'
import { Body, toContent } from './body.ts'
import { Headers, type HeadersSource } from './headers.ts'
import { URL } from './url/url.ts'

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
const normalMethods = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'])

/** The web's `Request`. Options about caches, cookies and origins mean nothing here. */
export class Request extends Body {
  readonly url: string
  readonly method: string
  readonly headers: Headers
  readonly redirect: Redirect
  /** The signal that it was made with. */
  readonly #given: AbortSignal | undefined
  #signal: AbortSignal | undefined

  constructor(input: unknown, options: RequestOptions | null = {}) {
    const given = options ?? {}
    const copied = input instanceof Request ? input : undefined
    const { content, type } = toContent(given.body)
    const method = toMethod(given.method ?? copied?.method ?? 'GET')
    const redirect = given.redirect ?? copied?.redirect ?? 'follow'
    if (!redirects.includes(redirect)) throw new TypeError(`There is no redirect mode '${redirect}'`)
    const own = content ?? copied?.moveContent() ?? null
    if (own !== null && (method === 'GET' || method === 'HEAD')) throw new TypeError(`A ${method} has no body`)
    super(own)
    this.url = copied?.url ?? toUrl(input)
    this.method = method
    this.headers = new Headers(given.headers ?? copied?.headers)
    if (type !== undefined && !this.headers.has('content-type')) this.headers.set('content-type', type)
    this.redirect = redirect
    this.#given = given.signal === undefined && copied ? copied.#given : (given.signal ?? undefined)
  }

  /** A signal in any case: one that is never aborted when it was made without. */
  get signal(): AbortSignal {
    this.#signal ??= this.#given ?? new AbortController().signal
    return this.#signal
  }

  clone(): Request {
    const { url, method, headers, redirect } = this
    const body = this.copyContent()
    return new Request(url, { method, headers, redirect, body, signal: this.#given ?? null })
  }

  get [Symbol.toStringTag](): string {
    return 'Request'
  }

  /** The signal of a request, if it was made with one. */
  static signalOf(request: Request): AbortSignal | undefined {
    return request.#given
  }
}

function toUrl(input: unknown): string {
  const url = new URL(input)
  if (url.username === '' && url.password === '') return url.href
  throw new TypeError('The URL of a request has no user and password: send an authorization header')
}

function toMethod(method: unknown): string {
  const text = String(method)
  const upper = text.toUpperCase()
  if (!methodCharacters.test(text) || forbiddenMethods.has(upper)) {
    throw new TypeError(`There is no method '${text}' here`)
  }
  return normalMethods.has(upper) ? upper : text
}
