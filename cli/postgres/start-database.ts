import { appendFileSync } from 'node:fs'
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
  const server = await startEmbeddedPostgres({
    directory: join(directory, 'postgres'),
    log: (line) => appendTo(join(directory, 'postgres.log'), `${line}\n`),
    signal,
  })
  parts.defer(() => server.stop())
  return server.url
}

/** Appends a line. One that a full disk refuses is lost: the server goes on without it. */
function appendTo(file: string, line: string): void {
  try {
    appendFileSync(file, line)
  } catch {
    // The server reports a full disk to the api and the worker, too.
  }
}
