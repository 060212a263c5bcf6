import { toText } from '../text.ts'
import { parseUrl, replacePart } from './parse.ts'
import { percentEncode, userInfoSet } from './percent.ts'
import { cannotHaveCredentials, originOf, showPath, showUrl, type UrlRecord } from './record.ts'
import { onChange, replaceAll, URLSearchParams } from './search-params.ts'

/** The web's `URL`. */
export class URL {
  #url: UrlRecord
  #query: URLSearchParams | undefined

  constructor(text: unknown, base?: unknown) {
    if (arguments.length === 0) throw new TypeError('URL requires a string')
    const parsed = parse(text, base)
    if (parsed === undefined) throw invalid(toText(text), base)
    this.#url = parsed
  }

  static canParse(text: unknown, base?: unknown): boolean {
    if (arguments.length === 0) throw new TypeError('URL.canParse requires a string')
    return parse(text, base) !== undefined
  }

  static parse(text: unknown, base?: unknown): URL | null {
    if (arguments.length === 0) throw new TypeError('URL.parse requires a string')
    return parse(text, base) === undefined ? null : new URL(text, base)
  }

  get href(): string {
    return showUrl(this.#url)
  }

  set href(value: unknown) {
    const parsed = parse(value, undefined)
    if (parsed === undefined) throw invalid(toText(value), undefined)
    this.#url = parsed
    this.#query?.[replaceAll](parsed.query ?? '')
  }

  get origin(): string {
    const { scheme, path } = this.#url
    if (scheme !== 'blob' || typeof path !== 'string') return originOf(this.#url)
    const inner = parseUrl(path)
    return inner && (inner.scheme === 'http' || inner.scheme === 'https') ? originOf(inner) : 'null'
  }

  get protocol(): string {
    return `${this.#url.scheme}:`
  }

  set protocol(value: unknown) {
    replacePart(this.#url, toText(value).replace(/:.*$/s, ''), 'scheme start')
  }

  get username(): string {
    return this.#url.username
  }

  set username(value: unknown) {
    if (!cannotHaveCredentials(this.#url)) this.#url.username = percentEncode(toText(value), userInfoSet)
  }

  get password(): string {
    return this.#url.password
  }

  set password(value: unknown) {
    if (!cannotHaveCredentials(this.#url)) this.#url.password = percentEncode(toText(value), userInfoSet)
  }

  get host(): string {
    const { host, port } = this.#url
    return host === null ? '' : port === null ? host : `${host}:${port}`
  }

  set host(value: unknown) {
    if (typeof this.#url.path !== 'string') replacePart(this.#url, toText(value), 'host')
  }

  get hostname(): string {
    return this.#url.host ?? ''
  }

  set hostname(value: unknown) {
    if (typeof this.#url.path !== 'string') replacePart(this.#url, toText(value), 'hostname')
  }

  get port(): string {
    return `${this.#url.port ?? ''}`
  }

  set port(value: unknown) {
    const text = toText(value)
    if (cannotHaveCredentials(this.#url)) return
    if (text === '') this.#url.port = null
    else replacePart(this.#url, text, 'port')
  }

  get pathname(): string {
    return showPath(this.#url)
  }

  set pathname(value: unknown) {
    if (typeof this.#url.path === 'string') return
    this.#url.path = []
    replacePart(this.#url, toText(value), 'path start')
  }

  get search(): string {
    const { query } = this.#url
    return query === null || query === '' ? '' : `?${query}`
  }

  set search(value: unknown) {
    const text = toText(value).replace(/^\?/, '')
    this.#url.query = null
    if (toText(value) !== '') replacePart(this.#url, text, 'query')
    this.#query?.[replaceAll](this.#url.query ?? '')
  }

  get searchParams(): URLSearchParams {
    if (this.#query === undefined) {
      this.#query = new URLSearchParams()
      this.#query[replaceAll](this.#url.query ?? '')
      this.#query[onChange] = (text) => {
        this.#url.query = text === '' ? null : text
      }
    }
    return this.#query
  }

  get hash(): string {
    const { fragment } = this.#url
    return fragment === null || fragment === '' ? '' : `#${fragment}`
  }

  set hash(value: unknown) {
    const text = toText(value).replace(/^#/, '')
    this.#url.fragment = null
    if (toText(value) !== '') replacePart(this.#url, text, 'fragment')
  }

  toString(): string {
    return this.href
  }

  toJSON(): string {
    return this.href
  }

  get [Symbol.toStringTag](): string {
    return 'URL'
  }
}

function parse(text: unknown, base: unknown): UrlRecord | undefined {
  if (base === undefined) return parseUrl(toText(text))
  const parsedBase = parseUrl(toText(base))
  return parsedBase && parseUrl(toText(text), parsedBase)
}

function invalid(input: string, base: unknown): TypeError {
  const error = new TypeError('Invalid URL')
  return Object.assign(error, {
    code: 'ERR_INVALID_URL',
    input,
    ...(base !== undefined && { base: toText(base) }),
  })
}
