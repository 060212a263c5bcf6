import type { Context } from '#shared/context.ts'
import { longestPeriods } from '#shared/integrations/register-schedule.ts'
import { registerBySchedule } from '#shared/integrations/registration.ts'
import { removeUnregistered } from '#shared/integrations/remove-unregistered.ts'
import { findRemovable } from '#shared/store/installations.ts'
import { clearImpossibleTimes } from '#shared/store/registrations.ts'
import { repeatedly } from './repeatedly.ts'

/** Installations that one look deletes, and those of each schedule whose time it corrects after a clock was set back. */
const batchSize = 100
/**
 * Interval of looks, which bounds how late a `register()` is. Among 100,000 schedules, none of them due, one takes 3
 * ms.
 */
const tickMilliseconds = 1000

/**
 * Periodically looks for integrations that are due to register by schedule, and for those that have unregistered and are to
 * be removed: the process that was asked for it may have ended before. It runs in the worker and not in the queue,
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
    await removeUnregistered(context, await findRemovable(context.db, batchSize))
  } catch (error) {
    context.log.error({ err: error }, 'Finding integrations to register or remove failed; retrying')
  }
}
