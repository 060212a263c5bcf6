import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { startEmbeddedPostgres } from './embedded-postgres.ts'

/**
 * The address of the database to use: that of `DATABASE_URL`, or else of an embedded server with its data and log in
 * the data folder, which is stopped with `parts`.
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
