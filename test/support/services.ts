import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { Client, escapeIdentifier } from 'pg'
import type { TestProject } from 'vitest/node'
import { startEmbeddedPostgres } from '../../cli/postgres/embedded-postgres.ts'
import { migrate } from '../../migrations/migrations.ts'
import { urlOf } from './databases.ts'
import { removeKeys, startRedis } from './redis.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** A database whose user may create databases. */
    databaseUrl: string
    /** The migrated database that test files clone. Its name is unique to this run. */
    templateDatabase: string
    redisUrl: string
  }
}

/**
 * Starts the services of the tests, once per run: a PostgreSQL (`TEST_DATABASE_URL`, or one started here) with a
 * migrated template database, and a Redis (`REDIS_URL`, or one started here). Servers started here end with this
 * process, even when it is killed. On other servers, runs use unique names, so that they do not affect each other.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const services = new AsyncDisposableStack()
  try {
    const run = `isobot_test_${randomBytes(6).toString('hex')}`
    const databaseUrl = process.env.TEST_DATABASE_URL || (await startPostgres(services))
    await createTemplate(databaseUrl, run, services)
    const redisUrl = await connectRedis(run, services)

    project.provide('databaseUrl', databaseUrl)
    project.provide('templateDatabase', run)
    project.provide('redisUrl', redisUrl)
  } catch (error) {
    await services.disposeAsync()
    throw error
  }
  return () => services.disposeAsync()
}

/** Free space that the data of a run never exceeds. */
const memoryBytes = 4 * 1024 ** 3

/**
 * The folder in which the data of PostgreSQL costs least: a file system in memory, where there is one with room enough. A
 * database of a test file is made there in a sixth of the time (64 ms instead of 376).
 */
async function findDataFolder(): Promise<string> {
  const { bavail, bsize } = await statfs('/dev/shm').catch(() => ({ bavail: 0, bsize: 0 }))
  return bavail * bsize >= memoryBytes ? '/dev/shm' : tmpdir()
}

async function startPostgres(services: AsyncDisposableStack): Promise<string> {
  const directory = await mkdtemp(join(await findDataFolder(), 'isobot-postgres-'))
  services.defer(() => rm(directory, { recursive: true, force: true }))
  const server = await startEmbeddedPostgres({
    directory,
    temporary: true,
    log: () => {},
    // Test data need not survive a power failure, and every test file has connection pools of its own. The last five
    // spare writes to files of what the server holds in memory as well: 4 and 12 % of the processor time of tests that
    // store and read rows, in two comparisons.
    settings: {
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      max_connections: '300',
      shared_buffers: '512MB',
      bgwriter_lru_maxpages: '0',
      checkpoint_timeout: '1h',
      max_wal_size: '1GB',
      io_method: 'sync',
    },
  })
  services.defer(() => server.stop())
  return server.url
}

/**
 * Makes the template database. A session that stays open bears the name of the run, and so shows other runs on the same
 * server that this one is alive: each run drops the databases that killed runs have left.
 */
async function createTemplate(databaseUrl: string, run: string, services: AsyncDisposableStack): Promise<void> {
  const session = new Client({ connectionString: databaseUrl })
  try {
    await session.connect()
    await session.query(`set application_name = '${run}'`)
  } catch (error) {
    throw new Error(`TEST_DATABASE_URL does not lead to a PostgreSQL server: ${String(error)}`, { cause: error })
  }
  services.defer(() => session.end())

  await dropDatabases(
    session,
    `select datname from pg_database
      where datname like 'isobot\\_test\\_%' and datdba = current_user::regrole
        and not exists (
              select from pg_stat_activity
               where application_name like 'isobot\\_test\\_%'
                 and starts_with(pg_database.datname, application_name))`,
  )
  try {
    await session.query(`create database ${escapeIdentifier(run)}`)
  } catch (error) {
    throw new Error(`TEST_DATABASE_URL must name a user who may create databases: ${String(error)}`, { cause: error })
  }
  services.defer(() => dropDatabases(session, `select datname from pg_database where starts_with(datname, '${run}')`))

  await migrate(urlOf(databaseUrl, run))
  await session.query(`alter database ${escapeIdentifier(run)} allow_connections false`)
}

async function dropDatabases(session: Client, query: string): Promise<void> {
  const { rows } = await session.query<{ datname: string }>(query)
  for (const { datname } of rows) {
    await session.query(`drop database if exists ${escapeIdentifier(datname)} with (force)`)
  }
}

async function connectRedis(run: string, services: AsyncDisposableStack): Promise<string> {
  const given = process.env.REDIS_URL
  if (!given) {
    const server = await startRedis()
    services.defer(() => server.stop())
    return server.url
  }
  const redis = new Redis(given, { lazyConnect: true, retryStrategy: null })
  let problem: unknown
  redis.on('error', (error) => (problem = error))
  try {
    await redis.connect()
    await redis.ping()
  } catch (error) {
    // The rejection reports only a lost connection; the event has the cause.
    throw new Error(`REDIS_URL does not lead to a Redis server: ${String(problem ?? error)}`, { cause: error })
  } finally {
    redis.disconnect()
  }
  services.defer(() => removeKeys(given, run))
  return given
}
