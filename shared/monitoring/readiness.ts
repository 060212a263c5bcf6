import type { Context } from '../context.ts'
import { lendsConnections } from '../store/pool-state.ts'
import { trueInTime } from '../true-in-time.ts'

/** Readiness probes of platforms time out after a few seconds. */
const checkMilliseconds = 1500

/** The body of `/readyz`: `unavailable` where a dependency, by its name, is. */
export interface Readiness {
  status: 'ok' | 'unavailable'
  [dependency: string]: 'ok' | 'unavailable'
}

/**
 * Checks whether this process can use each dependency, which takes at most 1.5 s. A dependency that answers over the
 * connection of its monitor may refuse others, as at its limit of connections or after a change of its password.
 */
export async function readReadiness({ dependencies, db, queue }: Context): Promise<Readiness> {
  const { all, database, redis, broker } = dependencies
  const isQueueUsable = trueInTime(queue.isUsable(), checkMilliseconds)
  const areUp = all.map((dependency) => dependency.check(checkMilliseconds))
  const isLent = database.isUp() ? lendsConnections(db, checkMilliseconds) : false
  const checks = await Promise.all(areUp)
  const usable = new Map<unknown, boolean>([[database, await isLent]])
  if (redis) usable.set(redis, redis.areConnected())
  if (!(await isQueueUsable)) usable.set(broker, false)
  const states = all.map((one, index) => [one.name, checks[index] && usable.get(one) ? 'ok' : 'unavailable'] as const)
  return {
    status: states.every(([, state]) => state === 'ok') ? 'ok' : 'unavailable',
    ...Object.fromEntries(states),
  }
}
