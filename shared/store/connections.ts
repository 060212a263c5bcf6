import type { Socket } from 'node:net'
import type { ClientBase } from 'pg'
import { postgresCode } from '../errors.ts'

/** The open connections of a process to PostgreSQL, which are cut when the server no longer answers. */
export interface Connections {
  add(connection: ClientBase): void
  /** Cuts all connections: statements in flight fail, and pools open new connections. */
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
      for (const connection of open) destroySocket(connection)
    },
  }
}

const cut = new WeakSet<ClientBase>()

/** Whether this process has closed a connection by `destroySocket`. */
export const isCut = (connection: ClientBase): boolean => cut.has(connection)

/** Closes a connection without contacting the server, which may be unreachable. */
export function destroySocket(connection: ClientBase): void {
  // knex learns of the end of a connection a moment later, and would give it to the next statement.
  Object.assign(connection, { __knex__disposed: 'The connection was closed' })
  const { stream } = (connection as unknown as { connection: { stream: Socket } }).connection
  cut.add(connection)
  stream.destroy()
}

/**
 * Time after which a statement without an answer is abandoned. No statement takes a tenth of it, except to wait for
 * locks.
 */
export const statementMilliseconds = 8000

/** Whether a statement was abandoned. Its connection must not be used again, because the answer may still arrive. */
export function isAbandoned(error: unknown): boolean {
  return error instanceof Error && error.message.endsWith('Query read timeout')
}

/** Whether a statement took too long, for this process or for the server. */
export function isOverTime(error: unknown): boolean {
  return isAbandoned(error) || postgresCode(error) === queryCancelled
}

/** PostgreSQL's code for a statement that a time limit of the server, or an administrator, has ended. */
const queryCancelled = '57014'
