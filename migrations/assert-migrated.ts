import { Client } from 'pg'
import type { Config } from '#shared/config/config.ts'
import { connectionSettings } from '#shared/store/database.ts'
import { migrationNames } from './names.ts'

const patienceMilliseconds = 2000

/** The remedy for a database without all migrations of this code. */
export const releaseRemedy = 'run the release step: node migrations/migrate.js'

/** How the migrations of a database differ from those of this code, by name. */
export interface MigrationState {
  /** Those that have not run on the database; all of them on an empty one. */
  missing: string[]
  /** Those that a newer version has run. */
  unknown: string[]
  /** Whether none has run. */
  isEmpty: boolean
}

export async function readMigrationState(client: Client): Promise<MigrationState> {
  const { rows: tables } = await client.query<{ name: string | null }>(
    `select to_regclass('knex_migrations')::text as name`,
  )
  if (tables[0]?.name == null) return { missing: [...migrationNames], unknown: [], isEmpty: true }
  const { rows } = await client.query<{ name: string }>('select name from knex_migrations order by id')
  const done = new Set(rows.map(({ name }) => name))
  return {
    missing: migrationNames.filter((name) => !done.has(name)),
    unknown: Array.from(done).filter((name) => !migrationNames.includes(name)),
    isEmpty: done.size === 0,
  }
}

/** The database lacks migrations of this code. The message names them, and the remedy. */
export class OutdatedDatabaseError extends Error {
  override name = 'OutdatedDatabaseError'
}

/**
 * Refuses a database on which the release step of this code has not run: requests would fail with 500, and events of bots
 * finally. One that is newer than this code is permitted, and one that cannot be reached yet is not looked at.
 *
 * @throws OutdatedDatabaseError
 */
export async function assertMigrated(database: Config['database']): Promise<void> {
  const client = new Client({
    ...connectionSettings(database),
    connectionTimeoutMillis: patienceMilliseconds,
    query_timeout: patienceMilliseconds,
  })
  client.on('error', () => {})
  let state: MigrationState
  try {
    await client.connect()
    state = await readMigrationState(client)
  } catch {
    return
  } finally {
    await client.end().catch(() => {})
  }
  if (state.missing.length === 0) return
  const problem = state.isEmpty ? 'is empty' : `lacks the migrations ${state.missing.join(', ')}`
  throw new OutdatedDatabaseError(`The database ${problem}: ${releaseRemedy}`)
}
