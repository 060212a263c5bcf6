import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readConfig } from '#shared/config/config.ts'
import type { ObjectContext } from '#shared/files/objects.ts'
import { openDatabase } from '#shared/store/database.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { misused } from '../failure.ts'
import { databaseUser, postgresFiles } from '../postgres/files.ts'

/**
 * Opens the stores of contents with the platform's environment variables. Without DATABASE_URL, the database is that of
 * the `isobot start` that runs on this data folder.
 *
 * @throws Failure when there is none, and `ConfigError` for invalid variables
 */
export async function openStores(
  environment: NodeJS.ProcessEnv,
  dataDirectory: string,
): Promise<ObjectContext & AsyncDisposable> {
  const isOwn = !environment['DATABASE_URL']
  const own = isOwn ? await ownVariables(dataDirectory) : {}
  // As `isobot start` does: a secret that is set precedes that of the data folder.
  const config = readConfig({ ...own, ...environment, ...(isOwn && { DATABASE_URL: own.DATABASE_URL }) })
  const db = openDatabase({ ...config.database, poolSize: 2 })
  const log = createLogger('files', 'silent')
  return { config, db, log, [Symbol.asyncDispose]: () => db.destroy() }
}

/**
 * The variables that name the database of the `isobot start` that runs on a data folder, and its secret.
 * @throws Failure when none runs
 */
export async function ownVariables(directory: string): Promise<NodeJS.ProcessEnv> {
  const { lock, password } = postgresFiles(join(directory, 'postgres'))
  try {
    const [server, secret, word] = await Promise.all(
      [lock, join(directory, 'secret'), password].map((file) => readFile(file, 'utf8')),
    )
    // The fourth line is the port.
    const port = server!.split('\n')[3]
    const url = `postgres://${databaseUser}:${word}@127.0.0.1:${port}/isobot`
    return { DATABASE_URL: url, ISOBOT_SECRET: secret! }
  } catch (cause) {
    const words = `Set DATABASE_URL to the platform’s database, or start \`isobot start\`: none runs on ${directory}`
    throw misused(words, { cause })
  }
}
