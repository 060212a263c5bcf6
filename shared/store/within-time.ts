import { postgresCode } from '../errors.ts'
import { slowly } from './connection-shares.ts'
import type { Database } from './database.ts'

const statementTimeout = '57014'

/**
 * Runs a statement with a limit of time that PostgreSQL enforces, one at a time for each bot (`slowly`). Its plan is made for
 * the values, whose statistics decide between indexes.
 *
 * @param bound `late`: the result where the statement takes longer
 */
export async function withinTime<Result>(
  db: Database,
  work: (transaction: Database) => PromiseLike<Result>,
  { milliseconds, late }: { milliseconds: number; late: Result },
): Promise<Result> {
  try {
    return await slowly(db, () =>
      db.transaction(async (transaction) => {
        const settings = `select set_config('statement_timeout', ?, true), set_config('plan_cache_mode', 'force_custom_plan', true)`
        await transaction.raw(settings, [String(milliseconds)])
        return work(transaction)
      }),
    )
  } catch (error) {
    if (postgresCode(error) === statementTimeout) return late
    throw error
  }
}
