import { domainToASCII } from 'node:url'
import { OutboundError } from './errors.ts'

/**
 * Hosts that a request may go to: `api.example.com`, `*.example.com` or, for all public ones, `*`, each optionally with
 * `:port`. `public` is for all public ones and what the operator opened.
 */
export type Allow = 'public' | string[]

/** Where a request wants to go, as far as its URL tells. */
export interface Target {
  /** A name, or an IP address without brackets. */
  host: string
  port: number
  /** The caller's list names this very port, so it need not be one of the usual ones. */
  portIsNamed: boolean
  /** Whether it may be private where the operator opened that. A list that names everybody does not mean those. */
  mayBePrivate: boolean
}

/**
 * Reads where a URL leads, and sees whether the caller may ask for that. Whether its address may be reached is another
 * question.
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
  const entries = allow
    .map(readEntry)
    .filter((entry) => entry.matches(url.hostname) && (entry.port === undefined || entry.port === port))
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
    mayBePrivate: entries.some((entry) => !entry.isEverybody),
  }
}

/**
 * Parses a URL. A dot at the end of the host, which only says that the name is complete, is taken away, so that a host
 * has one spelling.
 *
 * @param base what a relative URL is relative to
 * @throws OutboundError `invalid`
 */
export function parseUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href)
  if (!url)
    throw new OutboundError('invalid', 'The URL cannot be read: write it in full, like https://example.com/path')
  url.hostname = url.hostname.replace(/\.$/, '')
  return url
}

interface Entry {
  matches(hostname: string): boolean
  port: number | undefined
  isEverybody: boolean
}

function readEntry(entry: string): Entry {
  const [, pattern = '', digits] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? []
  const port = digits === undefined ? undefined : Number(digits)
  if (pattern === '*') return { matches: () => true, port, isEverybody: true }
  const isWildcard = pattern.startsWith('*.')
  const name = isWildcard ? pattern.slice(1) : pattern
  const canonical = name.startsWith('[') ? name.toLowerCase() : domainToASCII(name)
  return {
    matches: (hostname) => canonical !== '' && (isWildcard ? hostname.endsWith(canonical) : hostname === canonical),
    port,
    isEverybody: false,
  }
}
