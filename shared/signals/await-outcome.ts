import { ApiError } from '../errors.ts'
import { outcomeTopic, type Signals } from './signals.ts'

/** Interval at which the row is read without a signal: a signal may be lost, the row is not. */
const pollMilliseconds = 1000

/**
 * Waits until a row contains an outcome.
 *
 * @param id names the outcome's signal
 * @param ask starts the work; called once the subscription to the signal is active
 * @param poll reads the row: the outcome, or undefined while there is none
 * @param callerGone ends the wait when it is aborted
 * @throws ApiError `OperationTimeout` with the given message when there is no outcome in time, or its caller has gone
 */
export async function awaitOutcome<Outcome>(
  signals: Signals,
  id: string,
  work: {
    ask(): Promise<void>
    poll(): Promise<Outcome | undefined>
    timeoutMilliseconds: number
    timeoutMessage: string
    callerGone?: AbortSignal | undefined
  },
): Promise<Outcome> {
  const deadline = performance.now() + work.timeoutMilliseconds
  let notified = Promise.withResolvers<void>()
  const look = () => notified.resolve()
  const unsubscribe = await signals.subscribe(outcomeTopic(id), look)
  work.callerGone?.addEventListener('abort', look)
  try {
    await work.ask()
    while (performance.now() < deadline) {
      if (work.callerGone?.aborted) throw callerGone()
      const timer = setTimeout(notified.resolve, pollMilliseconds)
      await notified.promise
      clearTimeout(timer)
      notified = Promise.withResolvers<void>()
      const outcome = await work.poll()
      if (outcome !== undefined) return outcome
    }
  } finally {
    work.callerGone?.removeEventListener('abort', look)
    unsubscribe()
  }
  throw new ApiError('OperationTimeout', work.timeoutMessage)
}

/** Nobody receives this error. Its status, by which nginx logs the same, keeps it out of the errors of the log. */
function callerGone(): ApiError {
  return new ApiError('OperationTimeout', 'The caller closed the connection', { status: 499 })
}
