import type { Context } from '#shared/context.ts'
import { longestPeriods } from '#shared/integrations/register-schedule.ts'
import { registerBySchedule } from '#shared/integrations/registration.ts'
import { forgetImpossibleTimes } from '#shared/store/registrations.ts'
import { repeatedly } from './repeatedly.ts'

/** Installations of each schedule that get another time in one look because of a clock that was put back. */
const batchSize = 100
/** How late a `register()` may be by this. A look among 100,000 schedules of which none is due takes 3 ms. */
const tickMilliseconds = 1000

/**
 * Looks again and again for integrations that are due to register by schedule. It lives in the worker and not in the
 * queue, since the queue is what may be lost; of all workers one at a time gets what is due.
 *
 * @returns stops it, and waits for a look that is under way
 */
export function startRegisterTick(context: Context): () => Promise<void> {
  return repeatedly(tickMilliseconds, () => look(context))
}

async function look(context: Context): Promise<void> {
  if (!context.dependencies.database.isUp()) return
  try {
    await forgetImpossibleTimes(context.db, longestPeriods, batchSize)
    await registerBySchedule(context)
  } catch (error) {
    context.log.error({ err: error }, 'Finding integrations to register failed; retrying')
  }
}
