import { Redis, type RedisOptions } from 'ioredis'
import type { Config } from '../config/config.ts'
import type { Logger } from '../telemetry/logger.ts'

/** How a connection behaves while Redis is away. */
export type ConnectionMode =
  /** Commands wait for Redis to come back: for who has nothing better to do. */
  | 'block'
  /** Commands fail after a moment: for who answers a request meanwhile. */
  | 'retry'
  /** Commands fail at once: for who can do without. */
  | 'fail-fast'

const optionsByMode = {
  // The longest a command waits by itself for a job is ten seconds.
  block: { maxRetriesPerRequest: null, socketTimeout: 12_000 },
  // The attempts to connect again are 50 ms and more apart.
  retry: { maxRetriesPerRequest: 3, socketTimeout: 3000 },
  // A Redis that is connected and does not answer is away too.
  'fail-fast': { maxRetriesPerRequest: 0, enableOfflineQueue: false, commandTimeout: 250 },
} satisfies Record<ConnectionMode, RedisOptions>

const common = {
  connectTimeout: 2000,
  disconnectTimeout: 100,
  keepAlive: 5000,
  retryStrategy: (times) => Math.min(times * 50, 500),
} satisfies RedisOptions

/**
 * Writes the commands of a moment to the socket together: a write takes longer than making the command, and a busy
 * process has several of them at once. None waits for company: they go out before anything new comes in.
 */
class CorkedRedis extends Redis {
  override sendCommand(...command: Parameters<Redis['sendCommand']>): unknown {
    const { stream } = this
    if (stream?.writableCorked === 0) {
      stream.cork()
      setImmediate(() => stream.uncork())
    }
    return super.sendCommand(...command)
  }
}

/** The connections of a process to Redis. */
export interface RedisConnections {
  /** What the names of everything of ours there begin with. */
  prefix: string
  /** For everything that is over at once: jobs, signals, questions. It fails rather than waits. */
  sender: Redis
  /** Opens another one. It connects again by itself; whoever opens it closes it. */
  connect(patience: ConnectionMode): Redis
  /** Ends connections that are not answered any more; they are made anew. */
  cut(): void
}

/** @param isUp whether Redis is known to be there; while it is away, what connections report says nothing new */
export function openRedis(
  { url, allowSelfSigned, prefix }: NonNullable<Config['redis']>,
  log: Logger,
  isUp: () => boolean,
): RedisConnections {
  const open = new Set<Redis>()

  function keep(redis: Redis): Redis {
    open.add(redis)
    redis.on('connect', () => open.add(redis))
    redis.on('end', () => open.delete(redis))
    redis.on('error', (error) => log[isUp() ? 'error' : 'debug']({ err: error }, 'Redis connection error'))
    // BullMQ makes the connection on which it waits for jobs in this way.
    const duplicate = redis.duplicate.bind(redis)
    redis.duplicate = (options) => keep(duplicate(options))
    return redis
  }

  const connect = (patience: ConnectionMode) =>
    keep(
      new CorkedRedis(url, {
        ...common,
        ...optionsByMode[patience],
        ...(allowSelfSigned && url.startsWith('rediss:') && { tls: { rejectUnauthorized: false } }),
      }),
    )

  return {
    prefix,
    sender: connect('retry'),
    connect,
    cut() {
      for (const redis of open) redis.disconnect(true)
    },
  }
}
