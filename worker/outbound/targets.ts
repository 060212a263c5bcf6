import { domainToASCII } from 'node:url'
import { OutboundError } from './errors.ts'

/**
 * Permitted hosts: `api.example.com`, `*.example.com`, or `*` for all public hosts, each optionally with `:port`. `public`
 * permits all public hosts and those that the operator allows.
 */
export type Allow = 'public' | string[]

/** The target of a request, according to its URL. */
export interface Target {
  /** A name, or an IP address without brackets. */
  host: string
  port: number
  /** Whether the caller's list names this port, which permits ports other than 80 and 443. */
  portIsNamed: boolean
  /** Whether a private address that the operator allows is permitted; the entry `*` does not permit it. */
  mayBePrivate: boolean
  /** Whether code opens a connection to it, in any protocol. Otherwise it is requested by HTTP. */
  isConnection?: boolean
}

/**
 * Reads the target of a URL and checks it against the permitted hosts. The address policy checks its addresses.
 *
 * @throws OutboundError `forbidden`
 */
export function readTarget(url: URL, allow: Allow): Target {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new OutboundError('forbidden', `${url.protocol} cannot be requested: use http: or https:`)
  }
  if (url.username || url.password) {
    throw new OutboundError('forbidden', 'A URL must not contain a user or password: send an Authorization header')
  }
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  if (allow === 'public') return { host, port, portIsNamed: false, mayBePrivate: true }
  const entries = entriesFor(allow, url.hostname, port)
  if (entries.length === 0) {
    const wanted = url.port ? `${url.hostname}:${port}` : url.hostname
    throw new OutboundError(
      'forbidden',
      `${wanted} is not among the hosts that may be requested: add it to permissions.net of the bot or integration (for a CLI project, in isobot.json)`,
    )
  }
  return {
    host,
    port,
    portIsNamed: entries.some((entry) => entry.port === port),
    mayBePrivate: entries.some((entry) => !entry.matchesAll),
  }
}

/**
 * Reads the target of a connection. The code's permissions and the operator both have to name its port.
 *
 * @param address `tcp://host:port` or `tls://host:port`
 * @param permitted the hosts that the operator permits connections to
 * @throws OutboundError `forbidden` or `invalid`
 */
export function readConnectionTarget(address: string, allow: string[], permitted: string[]): Target {
  const [, authority = ''] = /^(?:tcp|tls):\/\/([^/?#@]+)$/.exec(address) ?? []
  // A URL of another scheme would keep the host as it is written.
  const url = URL.parse(`https://${authority}`)
  if (!url) throw new OutboundError('invalid', 'The address of a connection has a host and a port')
  const { hostname } = parseUrl(url.href)
  const port = url.port === '' ? 443 : Number(url.port)
  const isNamedBy = (entries: string[]) => entriesFor(entries, hostname, port).filter((entry) => entry.port === port)
  const granting = isNamedBy(allow)
  if (granting.length === 0) {
    throw new OutboundError(
      'forbidden',
      `Code may not connect to ${hostname}:${port}: add it with its port to permissions.net of the bot or integration (for a CLI project, in isobot.json)`,
    )
  }
  if (isNamedBy(permitted).length === 0) {
    throw new OutboundError(
      'forbidden',
      `Connections to ${hostname}:${port} are not permitted here: the operator adds it to OUTBOUND_CONNECT`,
    )
  }
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const mayBePrivate = granting.some((entry) => !entry.matchesAll)
  return { host, port, portIsNamed: true, mayBePrivate, isConnection: true }
}

function entriesFor(allow: string[], hostname: string, port: number): Entry[] {
  return allow
    .map(readEntry)
    .filter((entry) => entry.matches(hostname) && (entry.port === undefined || entry.port === port))
}

/**
 * Parses a URL. It removes the final dot of a complete host name, so that a host has one spelling.
 *
 * @param base the base of a relative URL
 * @throws OutboundError `invalid`
 */
export function parseUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href)
  if (!url)
    throw new OutboundError('invalid', 'The URL cannot be read: write it in full, like https://example.com/path')
  url.hostname = url.hostname.replace(/\.$/, '')
  return url
}

/** Whether a list of permitted hosts has the host of a URL. */
export function hasHost(entries: string[], { hostname }: URL): boolean {
  return entries.map(readEntry).some((entry) => entry.matches(hostname))
}

interface Entry {
  matches(hostname: string): boolean
  port: number | undefined
  matchesAll: boolean
}

function readEntry(entry: string): Entry {
  const [, pattern = '', digits] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? []
  const port = digits === undefined ? undefined : Number(digits)
  if (pattern === '*') return { matches: () => true, port, matchesAll: true }
  const isWildcard = pattern.startsWith('*.')
  const name = isWildcard ? pattern.slice(1) : pattern
  const canonical = name.startsWith('[') ? name.toLowerCase() : domainToASCII(name)
  return {
    matches: (hostname) => canonical !== '' && (isWildcard ? hostname.endsWith(canonical) : hostname === canonical),
    port,
    matchesAll: false,
  }
}
