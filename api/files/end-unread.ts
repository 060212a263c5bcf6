import type { Request } from 'express'

/** How long the rest of a refused body is read and dropped, so that the client reads the answer before the connection ends. */
const lingerMilliseconds = 2000

/**
 * Reads and drops the rest of a body whose request is refused, for a while: a connection that is closed with unread input
 * is reset, and the client loses the answer.
 */
export function endUnread(request: Request): void {
  if (request.complete) return
  const { socket } = request
  const linger = setTimeout(() => socket.destroy(), lingerMilliseconds)
  socket.once('close', () => clearTimeout(linger))
  request.once('end', () => clearTimeout(linger)).resume()
}
