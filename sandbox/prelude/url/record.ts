/** The parts of a URL. */
export interface UrlRecord {
  /** Without the colon. */
  scheme: string
  username: string
  password: string
  host: string | null
  port: number | null
  /** Segments, or one string for an opaque path: `mailto:a@b.example`. */
  path: string[] | string
  query: string | null
  fragment: string | null
}

/** The special schemes of the URL Standard, with their default ports. */
const ports = new Map<string, number | null>([
  ['ftp', 21],
  ['file', null],
  ['http', 80],
  ['https', 443],
  ['ws', 80],
  ['wss', 443],
])

export function isSpecial({ scheme }: UrlRecord): boolean {
  return ports.has(scheme)
}

export function usualPort(scheme: string): number | null {
  return ports.get(scheme) ?? null
}

export function cannotHaveCredentials({ host, scheme }: UrlRecord): boolean {
  return host === null || host === '' || scheme === 'file'
}

export function showPath({ path }: UrlRecord): string {
  return typeof path === 'string' ? path : path.map((segment) => `/${segment}`).join('')
}

export function showUrl(url: UrlRecord): string {
  const { scheme, username, password, host, port, path, query, fragment } = url
  let text = `${scheme}:`
  if (host !== null) {
    text += '//'
    if (username !== '' || password !== '') text += `${username}${password === '' ? '' : `:${password}`}@`
    text += host + (port === null ? '' : `:${port}`)
  } else if (typeof path !== 'string' && path.length > 1 && path[0] === '') text += '/.'
  text += showPath(url)
  if (query !== null) text += `?${query}`
  return fragment === null ? text : `${text}#${fragment}`
}

/** Only URLs such as `http://a.example` have an origin that can be serialized. */
export function originOf(url: UrlRecord): string {
  if (url.scheme === 'blob') return 'null'
  if (!isSpecial(url) || url.scheme === 'file') return 'null'
  return `${url.scheme}://${url.host}${url.port === null ? '' : `:${url.port}`}`
}
