import { ApiError } from '../errors.ts'
import type { ShareMetrics } from '../telemetry/metrics.ts'

/** Bounds the requests of one owner that wait for a worker in this process: each holds a connection meanwhile. */
export class WaitingRequests {
  readonly #max: number
  readonly #waiting = new Map<string, number>()

  /** @param max requests of one owner */
  constructor(max: number) {
    this.#max = max
  }

  /**
   * Waits for the work of a request.
   *
   * @param context its metrics count the request while it waits
   * @param whose the requests of the owner, as the error message names them
   * @throws ApiError `RateLimited` when too many wait; or the error of `work`
   */
  async run<Result>(
    { metrics }: { metrics: ShareMetrics },
    owner: string,
    whose: string,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const waiting = this.#waiting.get(owner) ?? 0
    if (waiting >= this.#max) {
      metrics.tenantRefusals.inc({ for: 'worker', reason: 'too_many' })
      const message = `${this.#max} ${whose} wait for their answers: try again in a moment`
      throw new ApiError('RateLimited', message, { retryAfterSeconds: 1 })
    }
    this.#waiting.set(owner, waiting + 1)
    metrics.tenantWaits.inc({ for: 'worker' })
    try {
      return await work()
    } finally {
      metrics.tenantWaits.dec({ for: 'worker' })
      const left = this.#waiting.get(owner)! - 1
      if (left === 0) this.#waiting.delete(owner)
      else this.#waiting.set(owner, left)
    }
  }
}
