import { OutboundError } from './errors.ts'
import { isStream, type RequestStream } from './request-stream.ts'
import { parseUrl } from './targets.ts'

export const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
export type Method = (typeof methods)[number]

/** One request to one server; following a redirect takes several. */
export interface HttpRequest {
  url: URL
  method: Method
  /** Names in lower case. */
  headers: Record<string, string>
  body: string | Uint8Array | RequestStream | undefined
}

/**
 * Headers that frame the message or describe the connection. Only the HTTP client sets them: a caller could use them to
 * smuggle one request inside another.
 */
const connectionHeaders = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

function isOfConnection(name: string): boolean {
  return connectionHeaders.has(name) || name.startsWith('proxy-')
}

/** Headers that follow a redirect to another origin. Any other header may carry a secret of the first origin. */
const harmlessHeader = /^(accept(-.+)?|content-.+|user-agent)$/

const redirects = new Set([301, 302, 303, 307, 308])

/**
 * Makes the first request for a caller.
 *
 * @throws OutboundError `invalid`
 */
export function firstRequest(wanted: {
  url: string | URL
  method: Method
  headers?: Record<string, string>
  body?: string | Uint8Array | RequestStream
}): HttpRequest {
  const { method, headers = {}, body } = wanted
  if (!methods.includes(method)) {
    throw new OutboundError('invalid', `The method ${method} cannot be sent: use one of ${methods.join(', ')}`)
  }
  const kept = selectHeaders(lowerCased(headers), (name) => !isOfConnection(name))
  return { url: parseUrl(String(wanted.url)), method, headers: kept, body }
}

/** The redirect target of a response; undefined if it is no redirect. */
export function redirectOf(status: number, headers: Record<string, string | string[] | undefined>): string | undefined {
  const { location } = headers
  return redirects.has(status) && typeof location === 'string' ? location : undefined
}

/**
 * Creates the request that follows a redirect, as browsers do.
 *
 * @throws OutboundError `invalid`
 */
export function redirectedRequest(request: HttpRequest, status: number, location: string): HttpRequest {
  const url = parseUrl(location, request.url)
  const headers =
    url.origin === request.url.origin
      ? request.headers
      : selectHeaders(request.headers, (name) => harmlessHeader.test(name))
  const becomesGet =
    (status === 303 && request.method !== 'GET' && request.method !== 'HEAD') ||
    ((status === 301 || status === 302) && request.method === 'POST')
  if (!becomesGet && isStream(request.body)) {
    const message = `${request.url.hostname} redirects a request whose body was sent as a stream: request the final URL`
    throw new OutboundError('invalid', message)
  }
  if (!becomesGet) return { ...request, url, headers }
  return {
    url,
    method: 'GET',
    headers: selectHeaders(headers, (name) => !name.startsWith('content-')),
    body: undefined,
  }
}

function lowerCased(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

function selectHeaders(headers: Record<string, string>, keep: (name: string) => boolean): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => keep(name)))
}
