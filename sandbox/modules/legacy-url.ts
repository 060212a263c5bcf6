import url from 'url'
import { invalidType } from '../prelude/node-errors.ts'
import { parse as parseQuery, stringify } from './aliases/qs.ts'
import { domainToUnicode } from './domains.ts'

/** An object of the legacy functions. */
interface LegacyUrl {
  protocol?: string | null
  slashes?: boolean | null
  auth?: string | null
  host?: string | null
  hostname?: string | null
  port?: string | number | null
  pathname?: string | null
  search?: string | null
  query?: string | object | null
  path?: string | null
  hash?: string | null
  href?: string
}

interface LegacyMethods {
  parse(this: LegacyUrl, text: string, parsesQuery?: boolean, hasHostAfterSlashes?: boolean): LegacyUrl
  format(this: LegacyUrl): string
  resolveObject(this: LegacyUrl, relative: string | LegacyUrl): LegacyUrl
}

const withSlashes = new Set(['http:', 'https:', 'ftp:', 'gopher:', 'file:', 'ws:', 'wss:'])

/** Gives the package's legacy functions the results of Node's, where they differ. */
export function mendLegacyUrls(): void {
  const { Url } = url as unknown as { Url: { new (): LegacyUrl; prototype: LegacyMethods } }
  const { prototype } = Url
  const given = { ...prototype }

  function parse(this: LegacyUrl, text: unknown, parsesQuery?: boolean, hasHostAfterSlashes?: boolean): LegacyUrl {
    if (typeof text !== 'string') throw invalidType('url', 'of type string', text)
    // The package takes a backslash behind a question mark for a slash.
    const escaped = text.replace(/[?#].*$/s, (rest) => rest.replaceAll('\\', '%5C'))
    given.parse.call(this, escaped, parsesQuery, hasHostAfterSlashes)
    if (parsesQuery) this.query = parseQuery((this.search ?? '').slice(1))
    if (/^wss?:$/.test(this.protocol ?? '') && this.hostname && !this.pathname) {
      this.pathname = '/'
      this.path = `/${this.search ?? ''}`
      this.href = format.call(this)
    }
    return this
  }

  function resolveObject(this: LegacyUrl, relative: string | LegacyUrl): LegacyUrl {
    const to = typeof relative === 'string' ? (url.parse(relative, false, true) as LegacyUrl) : relative
    const { host, auth, protocol, pathname, path } = to
    // It takes a path that is relative to one of a web socket for a host, which gets the password.
    const isSocket = /^wss?:$/.test(this.protocol ?? '') && (!protocol || protocol === this.protocol)
    const asHttp = (part: LegacyUrl) =>
      isSocket && part.protocol ? Object.assign(new Url(), part, { protocol: 'http:' }) : part
    const resolved = given.resolveObject.call(asHttp(this), asHttp(to))
    if (isSocket) resolved.protocol = this.protocol ?? null
    // The package sends the password of one host to another one.
    if (host && host !== this.host) resolved.auth = auth ?? null
    // It takes the first folder for the host.
    if (protocol === 'file:' && this.protocol !== protocol && !host) {
      Object.assign(resolved, { host: '', hostname: '', pathname, path })
    }
    resolved.href = format.call(resolved)
    return resolved
  }

  Object.assign(prototype, { parse, format, resolveObject })
}

function format(this: LegacyUrl): string {
  const { auth, host, hostname, port, slashes, query } = this
  const protocol = (this.protocol || '').replace(/[^:]$/, '$&:')
  const name = hostname?.includes(':') && !hostname.startsWith('[') ? `[${hostname}]` : hostname
  const place = host || (name && `${name}${port ? `:${port}` : ''}`)
  const credentials = auth ? `${encodeURIComponent(auth).replaceAll('%3A', ':')}@` : ''
  let shownHost = place ? `${credentials}${place}` : ''
  let pathname = (this.pathname || '').replaceAll(/[?#]/g, encodeURIComponent)
  if (slashes || (withSlashes.has(protocol) && place)) {
    if (pathname && !pathname.startsWith('/')) pathname = `/${pathname}`
    shownHost = `//${shownHost}`
  } else if (protocol === 'file:') shownHost = '//'
  const search = this.search || (query && typeof query === 'object' && stringify(query)) || ''
  const shownSearch = search.replace(/^[^?]/, '?$&').replaceAll('#', '%23')
  return `${protocol}${shownHost}${pathname}${shownSearch}${(this.hash || '').replace(/^[^#]/, '#$&')}`
}

interface FormatOptions {
  auth?: boolean
  fragment?: boolean
  search?: boolean
  unicode?: boolean
}

/** Node's `url.format`, of a `URL`, an object of the legacy functions, or a text. */
export function formatUrl(given: unknown, options: FormatOptions = {}): string {
  if (typeof given === 'string') return url.format(given)
  if (typeof given !== 'object' || given === null) {
    throw invalidType('urlObject', 'of type object or string', given)
  }
  if (!(given instanceof URL)) return format.call(given)
  const { auth = true, fragment = true, search = true, unicode = false } = options
  const shown = new URL(given.href)
  if (!auth) {
    shown.username = ''
    shown.password = ''
  }
  if (!fragment) shown.hash = ''
  if (!search) shown.search = ''
  return unicode ? shown.href.replace(shown.hostname, () => domainToUnicode(shown.hostname)) : shown.href
}
