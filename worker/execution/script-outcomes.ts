import { ScriptsError } from '#sandbox/scripts/contract.ts'
import { InterruptedError } from '#shared/queue/queue.ts'

/** The attempt from which on the end of the interpreter is the script's failure; of the first one, anything may be the cause. */
const lastAttempt = 2

/**
 * Waits for a script, and takes the end of the interpreter as its failure where it ends again.
 *
 * @param earlierAttempts attempts of the job that failed before this one
 * @throws InterruptedError when the interpreter ended for the first time: the job is requeued at once
 */
export async function orFailed<Outcome>(
  work: Promise<Outcome>,
  earlierAttempts: number,
): Promise<Outcome | { status: 'failed'; reason: string }> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof ScriptsError)) throw error
    if (earlierAttempts + 1 < lastAttempt) throw new InterruptedError(error.message)
    return { status: 'failed', reason: error.message }
  }
}
