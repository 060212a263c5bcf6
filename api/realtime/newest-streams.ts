import type { Connection } from './connection.ts'

/** Upper bound of the streams of one user in one conversation: a browser with several tabs has a handful. */
const maxStreamsOfUser = 20

/**
 * Bounds the streams of each listener. The oldest ends for a new one and resumes by its position: it may be a connection
 * that was lost and that this process does not know to be, and a client that may not connect again could do nothing about it.
 */
export class NewestStreams {
  readonly #byListener = new Map<string, Set<Connection>>()

  add(listener: string, connection: Connection): void {
    let connections = this.#byListener.get(listener)
    if (!connections) this.#byListener.set(listener, (connections = new Set()))
    connections.add(connection)
    const [oldest] = connections
    if (connections.size <= maxStreamsOfUser || !oldest) return
    connections.delete(oldest)
    // An orderly end would wait for a client that does not read.
    oldest.destroy()
  }

  remove(listener: string, connection: Connection): void {
    const connections = this.#byListener.get(listener)
    connections?.delete(connection)
    if (connections?.size === 0) this.#byListener.delete(listener)
  }
}
