import type { Socket } from 'node:net'
import type { ClientBase } from 'pg'

/** The open connections of a process to PostgreSQL, so that those that nobody will answer any more can be cut. */
export interface Connections {
  add(connection: ClientBase): void
  /** Cuts all of them: statements under way fail, and pools make new connections. */
  cut(): void
}

export function openConnections(): Connections {
  const open = new Set<ClientBase>()
  return {
    add(connection) {
      open.add(connection)
      connection.once('end', () => open.delete(connection))
    },
    cut() {
      for (const connection of open) cutOff(connection)
    },
  }
}

/** Ends a connection without asking its other end, which may not be there any more. */
export function cutOff(connection: ClientBase): void {
  const { stream } = (connection as unknown as { connection: { stream: Socket } }).connection
  stream.destroy()
}

/** Gives up a statement without an answer for so long. None of ours takes a tenth of it, but for waiting for locks. */
export const statementMilliseconds = 8000

/** Whether a statement was given up. Its connection is of no further use: the answer may still come. */
export function isGivenUp(error: unknown): boolean {
  return error instanceof Error && error.message.endsWith('Query read timeout')
}
