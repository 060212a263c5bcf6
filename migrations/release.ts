import { ensureAdministrator } from '#shared/process/bootstrap.ts'
import { ConfigError, readConfig } from '#shared/config/config.ts'
import {
  assertReachable,
  explainMigrationFailure,
  UnreachableDatabaseError,
} from '#shared/connectivity/reach-database.ts'
import { assertUsablePooler, UnusablePoolerError } from '#shared/connectivity/pooler.ts'
import { openDatabase } from '#shared/store/database.ts'
import { adoptVectorType } from '#shared/store/vector-type.ts'
import { listCautions, migrate, NewerDatabaseError } from './migrations.ts'

/** The database refuses the migrations. The message has a remedy. */
class RefusedMigrationError extends Error {
  override name = 'RefusedMigrationError'
}

/** The release step: migrates the database, and creates the first administrator if `ISOBOT_ADMIN_TOKEN` is set. */
async function release(): Promise<void> {
  const config = readConfig()
  await assertReachable(config.database)
  await assertUsablePooler(config)
  const done = await migrate(config.database.url, config.database).catch((cause: unknown) => {
    const explanation = explainMigrationFailure(cause, config.database.url)
    throw explanation === undefined ? cause : new RefusedMigrationError(explanation, { cause })
  })
  console.log('The database is up to date')
  for (const caution of listCautions(done)) console.log(caution)
  const db = openDatabase({ ...config.database, poolSize: 1 })
  try {
    await adoptVectorType(db)
    if (!config.adminToken) return
    console.log(`The administrator's workspace is ${await ensureAdministrator(db, config.adminToken)}`)
  } finally {
    await db.destroy()
  }
}

try {
  await release()
} catch (error) {
  const explained = [
    ConfigError,
    NewerDatabaseError,
    RefusedMigrationError,
    UnreachableDatabaseError,
    UnusablePoolerError,
  ]
  const isExplained = error instanceof Error && explained.some((kind) => error instanceof kind)
  console.error(isExplained ? error.message : error)
  process.exitCode = 1
}
