import { Client } from 'pg'
import { parseDatabaseUrl } from '../config/addresses.ts'
import type { Config } from '../config/config.ts'
import { isConflict } from '../errors.ts'
import { connectionSettings } from '../store/database.ts'
import { codeOf, selfSigned, wordsOf } from './connect-errors.ts'

/** The database cannot be used. The message names its address, the problem and a remedy. */
export class UnreachableDatabaseError extends Error {
  override name = 'UnreachableDatabaseError'
}

/**
 * Opens a connection to the database and closes it again.
 *
 * @throws UnreachableDatabaseError
 */
export async function assertReachable(database: Pick<Config['database'], 'url' | 'allowSelfSigned'>): Promise<void> {
  let client: Client | undefined
  try {
    client = new Client(connectionSettings(database))
    client.on('error', () => {})
    await client.connect()
  } catch (cause) {
    const { message, remedy } = explainUnreachable(cause, database.url)
    throw new UnreachableDatabaseError(`${message}: ${remedy}`, { cause })
  } finally {
    await client?.end().catch(() => {})
  }
}

/** The problem and the remedy when a connection to a database fails. */
export function explainUnreachable(error: unknown, url: string): { message: string; remedy: string } {
  const { host, port, username, pathname } = parseDatabaseUrl(url)
  const where = `PostgreSQL at ${host}:${port || 5432}`
  const code = codeOf(error)
  if (selfSigned.has(code)) {
    const remedy = 'set TLS_ALLOW_SELF_SIGNED=true if you trust it'
    return { message: `${where} has a self-signed certificate`, remedy }
  }
  const words = wordsOf(error)
  if (words.includes('does not support SSL')) {
    const remedy = 'enable TLS on the server, or set sslmode=disable in DATABASE_URL'
    return { message: `${where} cannot be used: ${words}`, remedy }
  }
  const isFile = error instanceof Error && 'syscall' in error && error.syscall === 'open'
  const remedies: Record<string, string> = {
    '28P01': 'set the right user and password in DATABASE_URL',
    '28000': username
      ? `create the user ${username} or allow it in pg_hba.conf, or enable TLS if the server requires it (?sslmode=require)`
      : 'set user and password in DATABASE_URL, postgres://user:password@host:5432/name',
    '42501': `grant connect on database ${pathname.slice(1)} to ${username}`,
    '3D000': `create the database: createdb ${pathname.slice(1)}`,
    '53300': 'close connections of other programs, or raise max_connections',
    ENOTFOUND: 'correct the host in DATABASE_URL',
    ECONNREFUSED: 'start the server, or correct host and port in DATABASE_URL',
    ENOENT: isFile
      ? 'correct sslrootcert, sslcert or sslkey in DATABASE_URL'
      : 'start the server, or correct the folder of its socket in DATABASE_URL',
  }
  const remedy = remedies[code] ?? 'check that the server runs and that the firewall admits this machine'
  return { message: `${where} cannot be used: ${words}`, remedy }
}

/** The remedy for a database that refuses all writes. */
export const readOnlyRemedy =
  'set DATABASE_URL to the primary server, or make it accept writes: set default_transaction_read_only = off'

/** The remedy for a search_path without a schema that the user can use. */
export const searchPathRemedy =
  'create the schema (create schema public) or grant its usage, or correct search_path in the options of DATABASE_URL, of the user or of the database'

/** The grants with which a user can migrate a database. */
export function migrationGrants(database: string, user: string): string {
  return `grant create on database ${database} to ${user}; grant usage, create on schema public to ${user}; or use the owner of its tables`
}

/**
 * Names the right or the schema that a migration lacks, a database that is read-only, or transactions that it conflicts with, with a
 * remedy.
 *
 * @returns undefined when the failure has another cause
 */
export function explainMigrationFailure(error: unknown, url: string): string | undefined {
  const { username, pathname } = parseDatabaseUrl(url)
  const [user, database] = [decodeURIComponent(username), decodeURIComponent(pathname.slice(1))]
  // knex puts the statement before it.
  const words = wordsOf(error).split(' - ').at(-1)
  if (codeOf(error) === '25006') return `The database ${database} is read-only (${words}): ${readOnlyRemedy}`
  if (codeOf(error) === '3F000') {
    return `The user ${user} finds no schema of search_path in the database ${database} (${words}): ${searchPathRemedy}`
  }
  if (isConflict(error)) {
    return `A migration of the database ${database} conflicts with requests (${words}): run the release step again, at a quieter hour`
  }
  if (codeOf(error) !== '42501') return undefined
  return `The user ${user} may not migrate the database ${database} (${words}): ${migrationGrants(database, user)}`
}
