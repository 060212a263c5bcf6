import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readConfig, type Config } from '#shared/config/config.ts'
import { failed, misused } from '../failure.ts'
import { assertReachable } from '#shared/connectivity/reach-database.ts'
import { ownVariables } from '../files/open-stores.ts'
import { startDatabase } from '../postgres/start-database.ts'
import { isStartRunning } from '../start/record.ts'

/**
 * The settings of the platform of these variables. Without DATABASE_URL, the database is the embedded one of the data folder,
 * whose server is started if `isobot start` does not run.
 *
 * @param parts stops the server
 * @throws Failure without a secret or when the database cannot be used, and `ConfigError` for invalid variables
 */
export async function openPlatform(
  environment: NodeJS.ProcessEnv,
  dataDirectory: string,
  parts: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<Config> {
  if (environment['DATABASE_URL']) {
    const config = readConfig(environment)
    await assertReachable(config.database).catch((error: Error) =>
      Promise.reject(failed(error.message, { cause: error })),
    )
    return config
  }
  if (await isStartRunning(dataDirectory)) return readConfig({ ...(await ownVariables(dataDirectory)), ...environment })
  const file = join(dataDirectory, 'secret')
  const secret = environment['ISOBOT_SECRET'] ?? (await readFile(file, 'utf8').catch(() => undefined))
  if (secret === undefined) {
    throw misused(
      `Set DATABASE_URL and ISOBOT_SECRET to those of the platform, or, for the database that \`isobot start\` runs in ` +
        `${dataDirectory}, put the secret of the platform into ${file}`,
    )
  }
  await mkdir(dataDirectory, { recursive: true })
  const { url } = await startDatabase(dataDirectory, parts, signal)
  return readConfig({ ...environment, DATABASE_URL: url, ISOBOT_SECRET: secret })
}
