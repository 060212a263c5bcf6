import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import type { Config } from '../config/config.ts'
import { postgresCode } from '../errors.ts'
import { connectionSettings } from '../store/database.ts'

/** A pooler between this process and PostgreSQL that cannot be used. */
export interface PoolerProblem {
  problem: string
  remedy: string
}

const patienceMilliseconds = 2000
/** PostgreSQL's codes for a prepared statement that is not there, or there already. */
const statementCodes = new Set(['26000', '42P05'])

/**
 * Looks for a pooler that gives the transactions of one connection to several connections of PostgreSQL, as PgBouncer does in
 * its transaction mode. A prepared statement outlives its transaction, so such a pooler must know of them, and a connection that
 * listens for notifications must not be pooled.
 *
 * @throws Error when the database cannot be reached
 */
export async function findPoolerProblem({ database, redis }: Config): Promise<PoolerProblem | undefined> {
  const [one, other] = [0, 1].map(() => {
    const client = new Client({ ...connectionSettings(database), query_timeout: patienceMilliseconds })
    client.on('error', () => {})
    return client
  }) as [Client, Client]
  // A name of its own: an earlier look may have left its statement on any connection of the pooler.
  const lookUp = { name: `isobot_${randomBytes(8).toString('hex')}`, text: 'select pg_backend_pid() as pid' }
  try {
    await Promise.all([one.connect(), other.connect()])
    const { rows: before } = await one.query(lookUp)
    // Its transaction takes the connection that the other one has just used, if they share any.
    await other.query('begin')
    await other.query('select 1')
    const { rows: after } = await one.query(lookUp)
    if (before[0].pid === after[0].pid || redis) return undefined
    return {
      problem: 'DATABASE_URL leads to a pooler in transaction mode, which loses notifications',
      remedy: 'set REDIS_URL, or DATABASE_URL to the server itself, or use the session mode of the pooler',
    }
  } catch (error) {
    if (!statementCodes.has(postgresCode(error) ?? '')) throw error
    return {
      problem: 'DATABASE_URL leads to a pooler that loses prepared statements',
      remedy:
        'set DATABASE_URL to the server itself, use the session mode of the pooler, or PgBouncer 1.21 or later with max_prepared_statements',
    }
  } finally {
    await Promise.all([one, other].map((client) => client.end().catch(() => {})))
  }
}

/** A pooler in front of the database cannot be used. The message has the problem and a remedy. */
export class UnusablePoolerError extends Error {
  override name = 'UnusablePoolerError'
}

/**
 * Refuses a pooler behind which statements would fail at random. A database that cannot be reached yet is not looked at.
 *
 * @throws UnusablePoolerError
 */
export async function assertUsablePooler(config: Config): Promise<void> {
  const found = await findPoolerProblem(config).catch(() => undefined)
  if (found) throw new UnusablePoolerError(`${found.problem}: ${found.remedy}`)
}
