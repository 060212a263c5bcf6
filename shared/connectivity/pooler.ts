import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import type { Config } from '../config/config.ts'
import { postgresCode } from '../errors.ts'
import { isAbandoned } from '../store/connections.ts'
import { connectionSettings } from '../store/database.ts'
import type { Logger } from '../telemetry/logger.ts'

/** A pooler between this process and PostgreSQL that cannot be used. */
export interface PoolerProblem {
  problem: string
  remedy: string
  /** Whether it may pass by itself, when other processes close their connections. */
  mayPass?: true
}

const patienceMilliseconds = 2000
/** PostgreSQL's codes for a prepared statement that is not there, or there already. */
const statementCodes = new Set(['26000', '42P05'])

const shortage: PoolerProblem = {
  problem: 'DATABASE_URL leads to a pooler that has too few free connections to the server',
  remedy: 'raise its pool size, default_pool_size of PgBouncer, to the number of “Connections” in docs/operating.md',
  mayPass: true,
}

const withoutNotifications: PoolerProblem = {
  problem: 'DATABASE_URL leads to a pooler in transaction mode, which loses notifications',
  remedy: 'set REDIS_URL, or DATABASE_URL to the server itself, or use the session mode of the pooler',
}

const withoutStatements: PoolerProblem = {
  problem: 'DATABASE_URL leads to a pooler that loses prepared statements',
  remedy:
    'set DATABASE_URL to the server itself, use the session mode of the pooler, or PgBouncer 1.21 or later with max_prepared_statements',
}

/**
 * Looks for a pooler that gives the transactions of one connection to several connections of PostgreSQL, as PgBouncer does in
 * its transaction mode. A prepared statement outlives its transaction, so such a pooler must know of them, and a connection that
 * listens for notifications must not be pooled. A pooler that has no connection left accepts further ones, and lets their statements
 * wait.
 *
 * @throws Error when the database cannot be reached
 */
export async function findPoolerProblem({ database, redis }: Config): Promise<PoolerProblem | undefined> {
  const [one, other] = [0, 1].map(() => {
    const client = new Client({ ...connectionSettings(database), query_timeout: patienceMilliseconds })
    client.on('error', () => {})
    return client
  }) as [Client, Client]
  try {
    await Promise.all([one.connect(), other.connect()])
    if (!(await shareConnections(one, other))) return undefined
    if (!redis) return withoutNotifications
    // The release step works on one connection while another one is in a transaction.
    await other.query('begin')
    await other.query('select 1')
    await one.query('select 1')
    return undefined
  } catch (error) {
    if (isAbandoned(error)) return shortage
    if (statementCodes.has(postgresCode(error) ?? '')) return withoutStatements
    throw error
  } finally {
    await Promise.all([one, other].map((client) => client.end().catch(() => {})))
  }
}

/** Whether two connections that are open get the same connection to the server in turn. */
async function shareConnections(one: Client, other: Client): Promise<boolean> {
  // A name of its own: an earlier look may have left its statement on any connection of the pooler.
  const name = `isobot_${randomBytes(8).toString('hex')}`
  const lookUp = async (client: Client) => {
    const { rows } = await client.query<{ pid: number }>({ name, text: 'select pg_backend_pid() as pid' })
    return rows[0]!.pid
  }
  const before = await lookUp(one)
  if ((await lookUp(other)) === before) return true
  // Its transaction takes the connection that the other one has just used, if they share any.
  await other.query('begin')
  await other.query('select 1')
  return (await lookUp(one)) !== before
}

/** A pooler in front of the database cannot be used. The message has the problem and a remedy. */
export class UnusablePoolerError extends Error {
  override name = 'UnusablePoolerError'
}

/**
 * Refuses a pooler behind which statements would fail at random. A database that cannot be reached yet is not looked at.
 *
 * @param log of a process that waits for a pooler without free connections, as for other outages; without it, that is refused too
 * @throws UnusablePoolerError
 */
export async function assertUsablePooler(config: Config, log?: Logger): Promise<void> {
  const found = await findPoolerProblem(config).catch(() => undefined)
  if (!found) return
  const message = `${found.problem}: ${found.remedy}`
  if (!found.mayPass || !log) throw new UnusablePoolerError(message)
  log.error(message)
}
