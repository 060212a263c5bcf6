import type { Context } from '#shared/context.ts'
import { longestPeriods } from '#shared/integrations/register-schedule.ts'
import { registerBySchedule } from '#shared/integrations/registration.ts'
import { clearImpossibleTimes } from '#shared/store/registrations.ts'
import { repeatedly } from './repeatedly.ts'

/** Installations of each schedule whose time one look corrects after a clock was set back. */
const batchSize = 100
/**
 * Interval of looks, which bounds how late a `register()` is. Among 100,000 schedules, none of them due, one takes 3
 * ms.
 */
const tickMilliseconds = 1000

/**
 * Periodically looks for integrations that are due to register by schedule. It runs in the worker and not in the queue,
 * because the queue may lose its data; one worker at a time receives the due ones.
 *
 * @returns stops the looks, and waits for one in flight
 */
export function startRegisterTick(context: Context): () => Promise<void> {
  return repeatedly(tickMilliseconds, () => look(context))
}

async function look(context: Context): Promise<void> {
  if (!context.dependencies.database.isUp()) return
  try {
    await clearImpossibleTimes(context.db, longestPeriods, batchSize)
    await registerBySchedule(context)
  } catch (error) {
    context.log.error({ err: error }, 'Finding integrations to register failed; retrying')
  }
}
