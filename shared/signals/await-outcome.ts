import { ApiError } from '../errors.ts'
import { outcomeTopic, type Signals } from './signals.ts'

/** Interval at which the row is read without a signal: a signal may be lost, the row is not. */
const pollMilliseconds = 1000

/**
 * Waits until a row contains an outcome.
 *
 * @param id names the outcome's signal
 * @param ask starts the work; called once the subscription to the signal is active
 * @param look reads the row: the outcome, or undefined while there is none
 * @throws ApiError `OperationTimeout` with the given message when there is no outcome in time
 */
export async function awaitOutcome<Outcome>(
  signals: Signals,
  id: string,
  work: {
    ask(): Promise<void>
    poll(): Promise<Outcome | undefined>
    timeoutMilliseconds: number
    timeoutMessage: string
  },
): Promise<Outcome> {
  const deadline = performance.now() + work.timeoutMilliseconds
  let notified = Promise.withResolvers<void>()
  const unsubscribe = await signals.subscribe(outcomeTopic(id), () => notified.resolve())
  try {
    await work.ask()
    while (performance.now() < deadline) {
      const timer = setTimeout(notified.resolve, pollMilliseconds)
      await notified.promise
      clearTimeout(timer)
      notified = Promise.withResolvers<void>()
      const outcome = await work.poll()
      if (outcome !== undefined) return outcome
    }
  } finally {
    unsubscribe()
  }
  throw new ApiError('OperationTimeout', work.timeoutMessage)
}
