import type { ClientBase } from 'pg'
import { trueInTime } from '../true-in-time.ts'
import type { Database } from './database.ts'

/** The part of knex's client that gives access to its pool. */
interface PooledClient {
  pool?: Pool
  acquireConnection(): Promise<ClientBase>
  releaseConnection(connection: ClientBase): Promise<void>
}

interface Pool {
  numUsed(): number
  numFree(): number
  numPendingAcquires(): number
}

/** The connections of a pool, for its metrics; undefined after its end. */
export function poolOf(db: Database): Pool | undefined {
  return (db.client as PooledClient).pool
}

/** Minimum time between two attempts to open a connection on behalf of probes. */
const attemptMilliseconds = 500

interface Attempt {
  /** Whether the pool has lent a connection. */
  lent: Promise<boolean>
  /** Until when a failure is not tried again, by `performance.now()`. */
  until: number
}

const attempts = new WeakMap<Database, Attempt>()

/**
 * Whether a pool has connections to lend. A pool of which some are busy has, however long others wait for them: slow
 * statements are no failure. Otherwise it has to lend one, and open it first if it has none. The pool keeps that one, so
 * probes of an idle process share it.
 *
 * @param milliseconds the longest that this takes
 */
export async function lendsConnections(db: Database, milliseconds: number): Promise<boolean> {
  if (isBusy(db)) return true
  // Others were served before this one.
  return (await trueInTime(borrow(db), milliseconds)) || isBusy(db)
}

function isBusy(db: Database): boolean {
  return (poolOf(db)?.numUsed() ?? 0) > 0
}

/** Borrows a connection for a moment, or shares the result of another attempt that is not over, or has just failed. */
function borrow(db: Database): Promise<boolean> {
  const last = attempts.get(db)
  if (last && performance.now() < last.until) return last.lent
  const attempt: Attempt = { lent: isLent(db), until: Infinity }
  attempts.set(db, attempt)
  void attempt.lent.then((isLent) => (attempt.until = isLent ? 0 : performance.now() + attemptMilliseconds))
  return attempt.lent
}

async function isLent(db: Database): Promise<boolean> {
  const client = db.client as PooledClient
  try {
    await client.releaseConnection(await client.acquireConnection())
    return true
  } catch {
    // The requests that need a connection report the reason.
    return false
  }
}
