import { RateLimiterMemory, RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible'
import type { Logger } from '#shared/telemetry/logger.ts'
import type { RedisConnections } from '#shared/connectivity/redis.ts'

/** A count restarts at zero this long after its first request. */
export const windowMilliseconds = 60_000
/** Time without further attempts after Redis has failed: requests do not wait for it, and one failure is logged. */
const retryMilliseconds = 5000
/** Maximum of counts that a process keeps in memory; it then deletes the oldest. */
const maxCounts = 100_000

/** Named counts. */
export interface Counter {
  /**
   * Adds one to each of the counts, at the same time.
   *
   * @returns the counts in the order of their names; undefined while Redis is unavailable
   */
  increment(names: string[]): Promise<RateLimiterRes[] | undefined>
  /** Subtracts one from a count. */
  decrement(name: string): Promise<void>
  close(): void
}

/** Opens counts in Redis, which all processes share, or without Redis counts of this process alone. */
export function openCounter(redis: RedisConnections | undefined, log: Logger): Counter {
  return redis ? inRedis(redis, log) : inMemory()
}

/** The callers compare counts with their own limits, so the library enforces none. */
const limits = { points: 0, duration: windowMilliseconds / 1000 }

function inMemory(): Counter {
  const limiter = new RateLimiterMemory(limits)
  /** The names of the counts, the oldest first. Some may have expired. */
  const names = new Set<string>()

  async function increment(name: string): Promise<RateLimiterRes> {
    const count = await limiter.penalty(name)
    if (!count.isFirstInDuration) return count
    names.delete(name)
    names.add(name)
    // Invented addresses and keys are counted too, so the number of counts must be bounded.
    const [oldest] = names
    if (names.size > maxCounts && names.delete(oldest!)) await limiter.delete(oldest!)
    return count
  }

  return {
    increment: (all) => Promise.all(all.map(increment)),
    decrement: async (name) => void (await limiter.reward(name)),
    close() {
      for (const name of names) void limiter.delete(name)
    },
  }
}

function inRedis({ prefix, connect }: RedisConnections, log: Logger): Counter {
  const redis = connect('fail-fast')
  const limiter = new RateLimiterRedis({ ...limits, storeClient: redis, keyPrefix: `${prefix}:rate` })
  let retryAt = 0
  redis.on('ready', () => (retryAt = 0))

  function rest(error: unknown): void {
    // Of the requests that fail at the same time, one logs it.
    if (performance.now() < retryAt) return
    log.warn({ err: error }, 'Counting requests in Redis failed: rate limits are not enforced until Redis answers')
    retryAt = performance.now() + retryMilliseconds
  }

  return {
    async increment(names) {
      if (performance.now() < retryAt) return undefined
      try {
        // With a Redis 1 ms away in each direction two counts take 2.7 ms together, and 5.5 ms one after the other.
        return await Promise.all(names.map((name) => limiter.penalty(name)))
      } catch (error) {
        rest(error)
        return undefined
      }
    },
    decrement: async (name) => void (await limiter.reward(name).catch(rest)),
    close: () => redis.disconnect(),
  }
}
