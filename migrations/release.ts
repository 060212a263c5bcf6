import { ensureAdministrator } from '#shared/process/bootstrap.ts'
import { ConfigError, readConfig } from '#shared/config/config.ts'
import { UnreachableDatabaseError } from '#shared/connectivity/reach-database.ts'
import { UnusablePoolerError } from '#shared/connectivity/pooler.ts'
import { openDatabase } from '#shared/store/database.ts'
import { adoptVectorType } from '#shared/store/vector-type.ts'
import { migrateOrExplain, RefusedMigrationError } from './migrate-or-explain.ts'
import { listCautions, LostLockError, NewerDatabaseError } from './migrations.ts'

/** The release step: migrates the database, and creates the first administrator if `ISOBOT_ADMIN_TOKEN` is set. */
async function release(): Promise<void> {
  const config = readConfig()
  const done = await migrateOrExplain(config)
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
    LostLockError,
    NewerDatabaseError,
    RefusedMigrationError,
    UnreachableDatabaseError,
    UnusablePoolerError,
  ]
  const isExplained = error instanceof Error && explained.some((kind) => error instanceof kind)
  console.error(isExplained ? error.message : error)
  process.exitCode = 1
}
