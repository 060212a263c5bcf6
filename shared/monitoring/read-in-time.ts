import type { Dependencies } from '../connectivity/dependencies.ts'
import { unavailable } from '../errors.ts'

/** The longest wait for values of the database: those that the process knows by itself would come too late for a scraper. */
const maxMilliseconds = 2000

/**
 * Reads values for operators from the database, within two seconds. Reading continues after that, for readers that share it.
 *
 * @throws ApiError 503 when they come later, and at once while the database is known to be unavailable
 */
export async function readInTime<Result>(
  { database }: Pick<Dependencies, 'database'>,
  read: () => Promise<Result>,
): Promise<Result> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const refuse = () =>
    reject(unavailable('The database has not answered in time: try again soon', { retryAfterSeconds: 1 }))
  const timer = setTimeout(refuse, maxMilliseconds)
  try {
    return await database.failFast(() => Promise.race([read(), late]))
  } finally {
    clearTimeout(timer)
  }
}
