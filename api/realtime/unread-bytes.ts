import { megabyte } from '#shared/units.ts'
import type { Connection } from './connection.ts'

/** A connection with fewer unread bytes is not counted: most have none, and a look at them is all that they cost. */
const minCountedBytes = 64 * 1024

/** Upper bound of the unread bytes of all streams of a process. */
const maxUnreadBytesOfAll = 256 * megabyte

/**
 * Bounds the bytes that clients have not read, of all streams together. Beyond the bound, the streams with the most end:
 * they resume by their position.
 */
export class UnreadBytes {
  readonly #max: number
  /** Bytes of the connections that had many when something was last sent to them; a client may have read them since. */
  readonly #counted = new Map<Connection, number>()
  #total = 0

  constructor(max = maxUnreadBytesOfAll) {
    this.#max = max
  }

  /** The bytes that are counted at present. */
  get total(): number {
    return this.#total
  }

  /**
   * Counts the bytes of a connection to which something has been sent.
   *
   * @returns how many streams were ended
   */
  sent(connection: Connection): number {
    const bytes = connection.unreadBytes()
    const before = this.#counted.get(connection) ?? 0
    if (bytes < minCountedBytes && before === 0) return 0
    this.#set(connection, bytes, before)
    return this.#total > this.#max ? this.#endLargest() : 0
  }

  closed(connection: Connection): void {
    this.#set(connection, 0, this.#counted.get(connection) ?? 0)
  }

  #set(connection: Connection, bytes: number, before: number): void {
    this.#total += bytes - before
    if (bytes > 0) this.#counted.set(connection, bytes)
    else this.#counted.delete(connection)
  }

  #endLargest(): number {
    let ended = 0
    for (const [connection, before] of this.#counted) this.#set(connection, connection.unreadBytes(), before)
    const largestFirst = Array.from(this.#counted).toSorted(([, a], [, b]) => b - a)
    for (const [connection] of largestFirst) {
      if (this.#total <= this.#max) return ended
      this.closed(connection)
      connection.destroy()
      ended += 1
    }
    return ended
  }
}
