import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { startEmbeddedPostgres } from './embedded-postgres.ts'

export interface StartedDatabase {
  url: string
  /** Of an embedded server: resolves with the path of its log when it has ended, also after it was stopped. */
  ended?: Promise<string>
}

/**
 * Finds the database: that of `DATABASE_URL`, or an embedded server with its data and log in the data folder, which stops when
 * `parts` is disposed.
 */
export async function startDatabase(
  directory: string,
  parts: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<StartedDatabase> {
  if (process.env.DATABASE_URL) return { url: process.env.DATABASE_URL }
  const log = join(directory, 'postgres.log')
  const server = await startEmbeddedPostgres({
    directory: join(directory, 'postgres'),
    log: (line) => appendTo(log, `${line}\n`),
    signal,
  })
  parts.defer(() => server.stop())
  return { url: server.url, ended: server.exited.then(() => log) }
}

/** Appends a line. One that a full disk refuses is lost: the server goes on without it. */
function appendTo(file: string, line: string): void {
  try {
    appendFileSync(file, line)
  } catch {
    // The server reports a full disk to the api and the worker, too.
  }
}
