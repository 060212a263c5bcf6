import { Redis } from 'ioredis'
import type { Config } from './config.ts'
import type { Logger } from './logger.ts'

/** How a connection behaves while Redis is away. */
type Patience =
  /** Commands wait for Redis to come back: for who has nothing better to do. */
  | 'waits'
  /** Commands fail after a moment: for who answers a request meanwhile. */
  | 'fails'

/** Attempts to connect again, of 50 ms and more each, before a command fails. */
const attemptsBeforeFailure = 3

/** Opens a Redis connection. Its errors are logged, and it connects again by itself. */
export function connectRedis(
  { url, allowSelfSigned }: NonNullable<Config['redis']>,
  log: Logger,
  patience: Patience,
): Redis {
  const redis = new Redis(url, {
    maxRetriesPerRequest: patience === 'waits' ? null : attemptsBeforeFailure,
    ...(allowSelfSigned && url.startsWith('rediss:') && { tls: { rejectUnauthorized: false } }),
  })
  redis.on('error', (error) => log.error({ err: error }, 'A Redis connection reports an error'))
  return redis
}
