import type { ServerResponse } from 'node:http'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '#shared/errors.ts'
import type { ShareMetrics } from '#shared/telemetry/metrics.ts'
import { SlidingWindowCounter } from '#shared/sliding-window-counter.ts'

/**
 * Keeps the requests of one bot from delaying those of others. While this process is busy, and a bot sends more than its
 * share, its requests are let through in groups, with a pause after each that is proportional to the time that the group
 * took: the slower the platform, the fewer. The others wait before their body is read, and those beyond a bound get 429.
 */
export interface FairAdmission {
  /**
   * Resolves when a request may continue.
   *
   * @throws ApiError `RateLimited` when too many requests of the bot wait already
   */
  admit(botId: string, response: ServerResponse): Promise<void>
}

const windowMilliseconds = 5000
/** A bot with fewer requests in the window has its share in any case. */
const smallShare = 100
/** A bot may send this multiple of what the bots with requests send on average, so a lone bot always may. */
const shareFactor = 1.5
/** Requests of a bot that are let through together: as many as one statement stores at little more than the cost of one. */
const groupSize = 16
/**
 * A group whose requests are not answered after this time delays the next no further: clients may send slowly, or the database
 * be far, which says nothing of the load.
 */
const maxGroupMilliseconds = 50
/** A pause takes this multiple of its group's time. */
const pauseFactor = 4
/** Upper bound of the requests of a bot that wait. */
const maxWaiting = 100
const retryAfterSeconds = 1

/** The event loop is busy when it works for more than this part of the time. */
const busyPart = 0.25
const sampleMilliseconds = 100

interface Waiting {
  response: ServerResponse
  enter(): void
}

/**
 * @param context its metrics count the requests that wait
 * @param isBusy whether this process has enough to do that requests delay each other
 */
export function openFairAdmission(
  { metrics }: { metrics: ShareMetrics },
  isBusy: () => boolean = watchEventLoop(),
): FairAdmission {
  const requests = new SlidingWindowCounter(windowMilliseconds)
  const queues = new Map<string, Waiting[]>()

  function exceedsShare(botId: string): boolean {
    const sent = requests.of(botId)
    return sent > smallShare && sent > requests.average() * shareFactor && isBusy()
  }

  async function letThrough(botId: string, waiting: Waiting[]): Promise<void> {
    while (waiting.length > 0) {
      const begin = performance.now()
      const answers = waiting.splice(0, groupSize).map(({ response, enter }) => {
        const answered = closeOf(response)
        enter()
        return answered
      })
      await Promise.race([Promise.all(answers), sleep(maxGroupMilliseconds)])
      if (exceedsShare(botId)) await sleep(pauseFactor * (performance.now() - begin))
    }
    queues.delete(botId)
  }

  return {
    async admit(botId, response) {
      requests.add(botId)
      const queue = queues.get(botId)
      if (!queue && !exceedsShare(botId)) return
      const waiting = queue ?? []
      if (waiting.length >= maxWaiting) {
        metrics.tenantRefusals.inc({ for: 'admission', reason: 'too_many' })
        throw tooMany()
      }
      const entered = new Promise<void>((enter) => waiting.push({ response, enter }))
      if (!queue) {
        queues.set(botId, waiting)
        void letThrough(botId, waiting)
      }
      metrics.tenantWaits.inc({ for: 'admission' })
      await entered
      metrics.tenantWaits.dec({ for: 'admission' })
    },
  }
}

async function closeOf(response: ServerResponse): Promise<void> {
  if (!response.closed) await new Promise((resolve) => response.once('close', resolve))
}

function tooMany(): ApiError {
  return new ApiError(
    'RateLimited',
    `${maxWaiting} requests of the bot wait while others have their turn, the maximum: try again in a moment`,
    { retryAfterSeconds },
  )
}

/** Samples how much of the time the event loop works, when it is asked and the last sample is old. */
function watchEventLoop(): () => boolean {
  let last = performance.eventLoopUtilization()
  let sampledAt = performance.now()
  let isBusy = false
  return () => {
    if (performance.now() - sampledAt < sampleMilliseconds) return isBusy
    const now = performance.eventLoopUtilization()
    isBusy = performance.eventLoopUtilization(now, last).utilization > busyPart
    last = now
    sampledAt = performance.now()
    return isBusy
  }
}
