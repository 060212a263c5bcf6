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

/** How long a closing api waits for requests whose clients have gone. */
const abandonedMilliseconds = 5000

/**
 * The requests in flight, those of clients that have gone included: a server counts connections alone, and a handler that
 * goes on after its client needs the database until it ends.
 */
export class RequestsInFlight {
  readonly #all = new Set<Promise<unknown>>()

  async track<Result>(handling: Promise<Result>): Promise<Result> {
    this.#all.add(handling)
    try {
      return await handling
    } finally {
      this.#all.delete(handling)
    }
  }

  /** Resolves when all have ended, or after some seconds. */
  async settled(): Promise<void> {
    const overdue = new AbortController()
    const ended = Promise.allSettled(this.#all).then(() => overdue.abort())
    await Promise.race([ended, pause(abandonedMilliseconds, undefined, { signal: overdue.signal }).catch(() => {})])
  }
}
