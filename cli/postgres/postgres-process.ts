import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { findProcess } from '../../shared/process/find-process.ts'
import { keepServer, runSupervisor, untilStopRequested } from './keep-server.ts'
import { clusterFiles, databaseUser, creatorOfUnfinishedCluster, postgresFiles, unfinishedCluster } from './files.ts'

/**
 * The supervisor of one embedded PostgreSQL: makes the cluster if there is none, runs the server, and stops it when
 * standard input ends. It never runs as root, because PostgreSQL refuses to.
 */
async function main(): Promise<void> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      parent: { type: 'string' },
      initdb: { type: 'string' },
      postgres: { type: 'string' },
      setting: { type: 'string', multiple: true, default: [] },
      'stale-process': { type: 'string' },
      temporary: { type: 'boolean', default: false },
    },
  })
  const directory = positionals[0]!
  const { data, lock } = postgresFiles(directory)
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', ...values.setting]

  const stopRequested = untilStopRequested()
  const stopped = new AbortController()
  void stopRequested.then(() => stopped.abort())

  try {
    if (!(await exists(data))) await createCluster(directory, values.initdb!, stopped.signal)
    await keepServer(
      {
        name: 'PostgreSQL',
        command: values.postgres!,
        parameters: (port) => ['-D', data, '-p', String(port), ...settings.map((setting) => `--${setting}`)],
        // PostgreSQL treats a lock held by its parent processes as stale; `pg_ctl` names one of them by this variable.
        environment: values['stale-process'] ? { PG_GRANDPARENT_PID: values['stale-process'] } : {},
        isReady: async ({ pid }) => {
          const lines = (await readFile(lock, 'utf8').catch(() => '')).split('\n')
          return lines[0] === String(pid) && lines[7]?.trim() === 'ready'
        },
        // Fast shutdown ends sessions and writes everything. After an immediate shutdown the next start recovers.
        endSignals: ['SIGINT', 'SIGQUIT', 'SIGKILL'],
      },
      stopRequested,
    )
  } finally {
    if (values.temporary) await rm(directory, { recursive: true, force: true })
  }
}

async function createCluster(directory: string, initdb: string, signal: AbortSignal): Promise<void> {
  await removeAbandonedClusters(directory)
  const cluster = unfinishedCluster(directory, process.pid)
  const { data, password } = clusterFiles(cluster)
  await mkdir(cluster, { mode: 0o700 })
  await writeFile(password, randomBytes(24).toString('hex'), { mode: 0o600 })
  const parameters = [
    `--pgdata=${data}`,
    `--username=${databaseUser}`,
    `--pwfile=${password}`,
    '--auth=scram-sha-256',
    // The same order of strings on every machine, independent of its locales.
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
  ]
  const initialize = (...others: string[]) => promisify(execFile)(initdb, [...parameters, ...others], { signal })
  try {
    // pg_trgm finds letters by this one: in the locale C, only those of ASCII are some.
    await initialize('--lc-ctype=C.UTF-8').catch((error: unknown) => {
      if (!String(error).includes('invalid locale name')) throw error
      return initialize()
    })
  } catch (error) {
    await rm(cluster, { recursive: true, force: true })
    throw error
  }
  try {
    await rename(cluster, postgresFiles(directory).cluster)
  } catch (error) {
    // A concurrent first start was faster; PostgreSQL's lock decides which server runs.
    await rm(cluster, { recursive: true, force: true })
    if (!(await exists(postgresFiles(directory).data))) throw error
  }
}

/** Removes the unfinished clusters of first starts that were killed. */
async function removeAbandonedClusters(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const maker = creatorOfUnfinishedCluster(name)
    if (maker === undefined || (await findProcess(maker))) continue
    await rm(join(directory, name), { recursive: true, force: true })
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

await runSupervisor(main)
