import type { Config } from '#shared/config/config.ts'
import { assertUsablePooler } from '#shared/connectivity/pooler.ts'
import { assertReachable, explainMigrationFailure } from '#shared/connectivity/reach-database.ts'
import { migrate } from './migrations.ts'

/** The database refuses the migrations. The message has a remedy. */
export class RefusedMigrationError extends Error {
  override name = 'RefusedMigrationError'
}

/**
 * Migrates a database that can be used, for people who read the reason where it cannot.
 *
 * @returns the names of the migrations that ran
 * @throws UnreachableDatabaseError, UnusablePoolerError, NewerDatabaseError, LostLockError or RefusedMigrationError, whose messages have remedies
 */
export async function migrateOrExplain(config: Config): Promise<string[]> {
  const { database } = config
  await assertReachable(database)
  await assertUsablePooler(config)
  return migrate(database.url, database).catch((cause: unknown) => {
    const explanation = explainMigrationFailure(cause, database.url)
    throw explanation === undefined ? cause : new RefusedMigrationError(explanation, { cause })
  })
}
