import type { Context } from '#shared/context.ts'
import { maxUsers } from '#shared/models/data-request.ts'
import type { Subject } from '#shared/models/person-terms.ts'
import type { DataRequestRow } from '#shared/models/tables.ts'
import { decryptJson } from '#shared/secrets.ts'
import { claimDataRequest, failDataRequest, pauseDataRequest, StaleRequestError } from '#shared/store/data-requests.ts'
import { TooManyUsersError } from '../erasure/erasure-run.ts'
import { nextStep } from '../erasure/stages.ts'
import { repeatedly } from './repeatedly.ts'

/**
 * Carries out data requests, in steps of one transaction each. A request that a killed worker leaves continues at its last
 * step when its lease is over, in any worker; a worker that stops gives its request up after the step in flight.
 */

const intervalMilliseconds = 1000
/** Seconds until the next attempt after a failure. */
const failureSeconds = 15

/**
 * Looks for data requests every second, and carries out one at a time.
 *
 * @returns stops, and waits for a step in flight
 */
export function startDataRequests(context: Context): () => Promise<void> {
  const stopping = new AbortController()
  const stop = repeatedly(intervalMilliseconds, () => carryOutRequests(context, stopping.signal))
  return () => {
    stopping.abort()
    return stop()
  }
}

/** Carries out the requests that wait. Failures are logged, and their requests continue later. */
export async function carryOutRequests(context: Context, signal?: AbortSignal): Promise<void> {
  const { db, dependencies, log } = context
  const mayContinue = () => !signal?.aborted && dependencies.database.isUp()
  while (mayContinue()) {
    try {
      const request = await claimDataRequest(db)
      if (!request) return
      await carryOut(context, request, signal)
    } catch (error) {
      log.error({ err: error }, 'Looking for data requests failed; retrying')
      return
    }
  }
}

async function carryOut(context: Context, request: DataRequestRow, signal?: AbortSignal): Promise<void> {
  const { db, log, config, metrics } = context
  let current = request
  try {
    const subject = request.subject === null ? {} : await decryptJson(config.secret, request.id, request.subject)
    while (current.status === 'in_progress') {
      if (signal?.aborted) return await pauseDataRequest(db, request, { seconds: 0, reason: null })
      const { stage } = current
      current = await nextStep({ context, request: current, subject: subject as Subject })
      // It waits for runs to end.
      if (stage === 'runs' && current.stage === 'runs') return
    }
    metrics.dataRequests.inc({ kind: 'erasure', outcome: 'completed' })
    log.info({ dataRequestId: request.id, erased: current.erased }, 'Carried out a data request')
  } catch (error) {
    if (error instanceof StaleRequestError) return
    if (error instanceof TooManyUsersError) {
      const reason = `It names more than ${maxUsers} users: choose a tag or a text that fewer have`
      await failDataRequest(db, request, reason)
      metrics.dataRequests.inc({ kind: 'erasure', outcome: 'failed' })
      return
    }
    log.error(
      { err: error, dataRequestId: request.id, stage: current.stage },
      'A step of a data request failed; retrying',
    )
    await pauseDataRequest(db, request, {
      seconds: failureSeconds,
      reason: 'A step failed: the log of the worker has the reason',
    })
  }
}
