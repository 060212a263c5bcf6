import { setTimeout as pause } from 'node:timers/promises'
import type { Context } from '../context.ts'
import { isOutage } from '../errors.ts'

const maxAttempts = 6
const pauseMilliseconds = 200

/** Performs work whose result is paid for, and waits for the database when its connection is lost meanwhile. */
export async function acrossOutages<Result>({ dependencies }: Context, work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!isOutage(error) || attempt === maxAttempts) throw error
      await dependencies.database.waitUntilUp()
      await pause(pauseMilliseconds)
    }
  }
}
