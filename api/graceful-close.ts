import { once } from 'node:events'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { LineStream } from '#shared/rpc/line-stream.ts'
import { isLingering } from './end-unread.ts'

/** Interval at which a stopping server closes idle connections. */
const closeIdleMilliseconds = 50
/** Connections that were opened in advance and carry no request by then, or the rest of a refused one, are closed. */
const idleMilliseconds = 1000

/**
 * Prepares a server to be closed without waiting for clients. Node's `close` waits for keep-alive connections whose
 * response ends after the call, and up to a minute for connections that never carried a request; published clients and
 * browsers open such connections in advance.
 *
 * @returns `leave` makes each response close its connection, and serves requests for the given time: closing
 *   connections at once would lose requests that are being sent over them. `close` accepts no more connections, lets
 *   requests in flight end, and closes idle and silent connections and those with the rest of a refused body
 */
export function prepareClose(server: Server): { leave(milliseconds: number): Promise<void>; close(): Promise<void> } {
  let isDraining = false
  server.prependListener('request', (_request, response) => {
    if (isDraining) response.setHeader('Connection', 'close')
  })
  const open = new Set<Socket>()
  const silent = new WeakSet<Socket>()
  server.on('connection', (socket) => {
    open.add(socket)
    silent.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  const markActive = ({ socket }: { socket: Socket }) => silent.delete(socket)
  server.on('request', markActive)
  server.on('upgrade', markActive)

  return {
    async leave(milliseconds) {
      isDraining = true
      await pause(milliseconds)
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      const closeIdle = setInterval(() => server.closeIdleConnections(), closeIdleMilliseconds)
      const closeSilent = setTimeout(() => {
        for (const socket of open) if (silent.has(socket) || isLingering(socket)) socket.destroy()
      }, idleMilliseconds)
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

/** The streams that go on until their clients leave. */
export class EndlessStreams {
  readonly #all = new Set<LineStream>()
  #isClosed = false

  /** @param ended resolves when the client has left */
  add(stream: LineStream, ended: Promise<unknown>): void {
    if (this.#isClosed) return stream.cancel()
    this.#all.add(stream)
    void ended.finally(() => this.#all.delete(stream))
  }

  /** Ends all; their clients connect to other processes. */
  close(): void {
    this.#isClosed = true
    for (const stream of this.#all) stream.cancel()
  }
}
