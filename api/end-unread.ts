import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** How long the next part of a refused body is waited for. */
const lingerMilliseconds = 2000
/** How long the rest of a refused body is read and dropped, however steadily it arrives. */
const maxLingerMilliseconds = 30_000

const lingering = new WeakSet<Socket>()

/** Whether a connection only carries the rest of a refused body, for which a closing server need not wait. */
export function isLingering(socket: Socket): boolean {
  return lingering.has(socket)
}

/**
 * Reads and drops the rest of a body whose request is refused, so that the client reads the answer before the connection
 * ends: a connection that is closed with unread input is reset, and the client loses the answer. Most clients read it only
 * once they have sent the whole body. The answer must not have the header `Connection: close`, at which Node closes at once.
 */
export function endUnread(request: IncomingMessage): void {
  if (request.complete) return
  const { socket } = request
  lingering.add(socket)
  const end = () => socket.destroy()
  const silence = setTimeout(end, lingerMilliseconds)
  const linger = setTimeout(end, maxLingerMilliseconds)
  const stop = () => {
    lingering.delete(socket)
    clearTimeout(silence)
    clearTimeout(linger)
  }
  request
    .on('data', () => silence.refresh())
    .once('end', stop)
    .once('close', stop)
    .resume()
}
