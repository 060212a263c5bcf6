import { AbortController, AbortSignal } from './abort.ts'
import { Body, toContent } from './body.ts'
import { bodyOfAnyMethod } from './content-key.ts'
import { Headers, type HeadersSource } from './headers.ts'
import { toOptions } from './options.ts'
import { toText } from './text.ts'
import { URL } from './url/url.ts'

export interface RequestOptions {
  method?: string
  headers?: HeadersSource
  body?: unknown
  signal?: AbortSignal | null
  redirect?: unknown
  mode?: unknown
  credentials?: unknown
  cache?: unknown
  referrer?: unknown
  referrerPolicy?: unknown
  integrity?: unknown
  keepalive?: unknown
  duplex?: unknown
  window?: unknown
}

/** The allowed values of each option. `navigate` is reserved for pages. */
const choices = {
  redirect: ['follow', 'error', 'manual'],
  mode: ['cors', 'no-cors', 'same-origin'],
  credentials: ['same-origin', 'include', 'omit'],
  cache: ['default', 'no-store', 'reload', 'no-cache', 'force-cache', 'only-if-cached'],
  referrerPolicy: [
    '',
    'no-referrer',
    'no-referrer-when-downgrade',
    'same-origin',
    'origin',
    'strict-origin',
    'origin-when-cross-origin',
    'strict-origin-when-cross-origin',
    'unsafe-url',
  ],
  // Libraries find out by an object that reports whether it is read that requests can have streams as bodies.
  duplex: ['half'],
} as const

type Choices = { readonly [Name in keyof typeof choices]: (typeof choices)[Name][number] }

export type Redirect = Choices['redirect']

const methodCharacters = /^[\w!#$%&'*+.^`|~-]+$/
const forbiddenMethods = new Set(['CONNECT', 'TRACE', 'TRACK'])
const normalMethods = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'])

const defaults: Choices = {
  redirect: 'follow',
  mode: 'cors',
  credentials: 'same-origin',
  cache: 'default',
  referrerPolicy: '',
  duplex: 'half',
}

/**
 * The web's `Request`. Isolates have no cookies, caches, origins or pages: options about them are kept without an
 * effect.
 */
export class Request extends Body {
  /** Set for all requests by `http`, whose callers may use `fetch` in its place (`sandbox/modules/table.ts`). */
  static [bodyOfAnyMethod] = false
  readonly url: string
  readonly method: string
  readonly headers: Headers
  readonly redirect: Redirect
  readonly mode: Choices['mode']
  readonly credentials: Choices['credentials']
  readonly cache: Choices['cache']
  readonly referrer: string
  readonly referrerPolicy: Choices['referrerPolicy']
  readonly integrity: string
  readonly keepalive: boolean
  readonly destination = ''
  readonly duplex: Choices['duplex']
  /** The signal given to the constructor. */
  readonly #given: AbortSignal | undefined
  #signal: AbortSignal | undefined

  constructor(input: unknown, options?: RequestOptions | null) {
    if (arguments.length === 0) throw new TypeError('A Request requires a URL or another Request')
    const given = toRequestOptions(options)
    const copied = input instanceof Request ? input : undefined
    const { content, type } = toContent(given.body)
    const method = toMethod(given.method ?? copied?.method ?? 'GET')
    const chosen = choose(given, copied)
    const own = content ?? copied?.moveContent() ?? null
    if (own !== null && (method === 'GET' || method === 'HEAD') && !Request[bodyOfAnyMethod])
      throw new TypeError(`A ${method} request must not have a body`)
    super(own)
    this.url = copied?.url ?? toUrl(input)
    this.method = method
    this.headers = new Headers(given.headers ?? copied?.headers)
    if (type !== undefined && !this.headers.has('content-type')) this.headers.set('content-type', type)
    this.redirect = chosen.redirect
    this.mode = chosen.mode
    this.credentials = chosen.credentials
    this.cache = chosen.cache
    this.referrerPolicy = chosen.referrerPolicy
    this.duplex = chosen.duplex
    this.referrer = toReferrer(given, copied)
    this.integrity = toText(given.integrity ?? copied?.integrity ?? '')
    this.keepalive = Boolean(given.keepalive ?? copied?.keepalive)
    this.#given = given.signal === undefined && copied ? copied.#given : (given.signal ?? undefined)
  }

  /** Always a signal of the request's own; it is never aborted if the constructor was given none. */
  get signal(): AbortSignal {
    this.#signal ??= this.#given ? AbortSignal.any([this.#given]) : new AbortController().signal
    return this.#signal
  }

  clone(): Request {
    const { method, headers, redirect, mode, credentials, cache, referrer, referrerPolicy, integrity, keepalive } = this
    const kept = { method, headers, redirect, mode, credentials, cache, referrer, referrerPolicy, integrity, keepalive }
    return new Request(this.url, { ...kept, body: this.copyContent(), signal: this.#given ?? null })
  }

  get [Symbol.toStringTag](): string {
    return 'Request'
  }

  /** The signal given to the constructor, if any. */
  static signalOf(request: Request): AbortSignal | undefined {
    return request.#given
  }
}

function toUrl(input: unknown): string {
  const url = new URL(input)
  if (url.username === '' && url.password === '') return url.href
  throw new TypeError('The URL of a request must not contain a user or password: send an authorization header')
}

function toMethod(method: unknown): string {
  const text = String(method)
  const upper = text.toUpperCase()
  if (!methodCharacters.test(text) || forbiddenMethods.has(upper)) {
    throw new TypeError(`The method '${text}' is invalid or not supported`)
  }
  return normalMethods.has(upper) ? upper : text
}

function toRequestOptions(options: unknown): RequestOptions {
  const given = toOptions(options) as RequestOptions
  if (given.window !== undefined && given.window !== null) throw new TypeError('The option window must be null')
  return given
}

/** If any option is given, the copy does not inherit the referrer policy of the request. */
function choose(given: RequestOptions, copied: Request | undefined): Choices {
  const chosen = { ...defaults }
  for (const name of Object.keys(choices) as (keyof Choices)[]) {
    const before = name === 'referrerPolicy' && Object.keys(given).length > 0 ? undefined : copied?.[name]
    const value = given[name] === undefined ? (before ?? defaults[name]) : toText(given[name])
    if (!(choices[name] as readonly string[]).includes(value))
      throw new TypeError(`The value '${value}' of ${name} is not supported`)
    Object.assign(chosen, { [name]: value })
  }
  if (chosen.cache === 'only-if-cached' && chosen.mode !== 'same-origin') {
    throw new TypeError(`The cache mode 'only-if-cached' requires the mode 'same-origin'`)
  }
  return chosen
}

const anyReferrer = 'about:client'

function toReferrer(given: RequestOptions, copied: Request | undefined): string {
  if (given.referrer === undefined)
    return Object.keys(given).length > 0 ? anyReferrer : (copied?.referrer ?? anyReferrer)
  const text = toText(given.referrer)
  return text === '' ? '' : new URL(text).href
}
