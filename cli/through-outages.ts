import { setTimeout as pause } from 'node:timers/promises'
import { exitCodes, Failure } from './failure.ts'

/** Longer than a platform takes to restart. */
const patienceMilliseconds = 120_000
const pauseMilliseconds = 1000

/**
 * Reads the state of work that goes on in the platform, again while the platform is unavailable: a restart is no outcome of
 * the work.
 *
 * @throws Failure when the platform refuses, or is still unavailable after two minutes
 */
export async function throughOutages<T>(read: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + patienceMilliseconds
  for (;;) {
    try {
      return await read()
    } catch (error) {
      if (!isOutage(error) || Date.now() > deadline) throw error
      await pause(pauseMilliseconds)
    }
  }
}

/** A refused token has the same exit code. */
function isOutage(error: unknown): boolean {
  return error instanceof Failure && error.exitCode === exitCodes.unreachable && error.details?.['status'] !== 401
}
