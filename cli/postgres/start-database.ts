import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { startEmbeddedPostgres } from './embedded-postgres.ts'

/**
 * The address of the database: `DATABASE_URL`, or that of an embedded server with its data and log in the data folder,
 * which stops when `parts` is disposed.
 */
export async function startDatabase(
  directory: string,
  parts: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<string> {
  if (process.env.DATABASE_URL) return process.env.DATABASE_URL
  const log = createWriteStream(join(directory, 'postgres.log'), { flags: 'a' })
  const server = await startEmbeddedPostgres({
    directory: join(directory, 'postgres'),
    log: (line) => log.write(`${line}\n`),
    signal,
  })
  parts.defer(() => server.stop())
  return server.url
}
