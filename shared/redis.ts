import { Redis, type RedisOptions } from 'ioredis'
import type { Config } from './config.ts'
import type { Logger } from './logger.ts'

/** How a connection behaves while Redis is away. */
type Patience =
  /** Commands wait for Redis to come back: for who has nothing better to do. */
  | 'waits'
  /** Commands fail after a moment: for who answers a request meanwhile. */
  | 'fails'
  /** Commands fail at once: for who can do without. */
  | 'hurries'

const patienceOptions = {
  waits: { maxRetriesPerRequest: null },
  // The attempts to connect again are 50 ms and more apart.
  fails: { maxRetriesPerRequest: 3 },
  // A Redis that is connected and does not answer is away too.
  hurries: { maxRetriesPerRequest: 0, enableOfflineQueue: false, commandTimeout: 250 },
} satisfies Record<Patience, RedisOptions>

/** Opens a Redis connection. Its errors are logged, and it connects again by itself. */
export function connectRedis(
  { url, allowSelfSigned }: NonNullable<Config['redis']>,
  log: Logger,
  patience: Patience,
): Redis {
  const redis = new Redis(url, {
    ...patienceOptions[patience],
    ...(allowSelfSigned && url.startsWith('rediss:') && { tls: { rejectUnauthorized: false } }),
  })
  redis.on('error', (error) => log.error({ err: error }, 'A Redis connection reports an error'))
  return redis
}
