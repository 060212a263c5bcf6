import { once } from 'node:events'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** While stopping, how often to close the connections that have become idle. */
const closeIdleMilliseconds = 50
/** A connection that was opened in advance and has brought no request by then will bring none. */
const silenceMilliseconds = 1000

/**
 * Prepares a server to be closed without waiting for others. Node's own way waits for connections that are kept alive
 * when their response ends only now, and up to a minute for one over which nothing was ever sent; published clients
 * and browsers open such in advance.
 *
 * @returns `leave` has clients go elsewhere with their next request, and serves for so long what comes all the same: a
 *   connection that is closed takes with it what was just being sent over it. `close` takes no more connections, lets
 *   the requests under way end, and hangs up on the rest
 */
export function prepareClose(server: Server): { leave(milliseconds: number): Promise<void>; close(): Promise<void> } {
  let isLeaving = false
  server.prependListener('request', (_request, response) => {
    if (isLeaving) response.setHeader('Connection', 'close')
  })
  const silent = new Set<Socket>()
  server.on('connection', (socket) => {
    silent.add(socket)
    socket.once('close', () => silent.delete(socket))
  })
  const speaks = ({ socket }: { socket: Socket }) => silent.delete(socket)
  server.on('request', speaks)
  server.on('upgrade', speaks)

  return {
    async leave(milliseconds) {
      isLeaving = true
      await pause(milliseconds)
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      const closeIdle = setInterval(() => server.closeIdleConnections(), closeIdleMilliseconds)
      const closeSilent = setTimeout(() => {
        for (const socket of silent) socket.destroy()
      }, silenceMilliseconds)
      await closed
      clearInterval(closeIdle)
      clearTimeout(closeSilent)
    },
  }
}
