import type { IncomingHttpHeaders } from 'node:http'

/**
 * The headers of a request that opens a stream, with the user's key from the query if they have none: browsers send no headers
 * of a page with a WebSocket or an `EventSource`.
 */
export function withKeyOfQuery(headers: IncomingHttpHeaders, key: unknown): IncomingHttpHeaders {
  return typeof key === 'string' ? { 'x-user-key': key, ...headers } : headers
}
