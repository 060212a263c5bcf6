import type { IncomingMessage } from 'node:http'

/** How long the rest of a refused body is read and dropped, so that the client reads the answer before the connection ends. */
const lingerMilliseconds = 2000

/**
 * Reads and drops the rest of a body whose request is refused, for a while: a connection that is closed with unread input
 * is reset, and the client loses the answer. The answer must not have the header `Connection: close`, at which Node closes
 * at once.
 */
export function endUnread(request: IncomingMessage): void {
  if (request.complete) return
  const linger = setTimeout(() => request.socket.destroy(), lingerMilliseconds)
  const stop = () => clearTimeout(linger)
  request.once('end', stop).once('close', stop).resume()
}
