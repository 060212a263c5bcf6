import { Redis, type RedisOptions } from 'ioredis'
import type { Config } from '../config/config.ts'
import type { Logger } from '../telemetry/logger.ts'

/** The behaviour of a connection while Redis is unavailable. */
export type ConnectionMode =
  /** Commands wait until Redis returns: for background work. */
  | 'block'
  /** Commands fail after a few reconnection attempts: for work on behalf of a request. */
  | 'retry'
  /** Commands fail at once: for work that can do without Redis. */
  | 'fail-fast'

/**
 * Whether the server has become a replica, which has not carried the command out. After a failover the address leads to the new primary,
 * and connections to the former one stay open, so they are replaced.
 */
const leadsElsewhere = ({ message }: Error): boolean => /\b(?:READONLY|UNBLOCKED)\b/.test(message)

const repeatMilliseconds = 5000
const maxRepeats = 4

/**
 * Has ioredis repeat the commands of background work over the new connections. A server that stays a replica is asked few times in each
 * period; other errors make BullMQ wait.
 */
function repeatElsewhere(): NonNullable<RedisOptions['reconnectOnError']> {
  let [since, repeats] = [-Infinity, 0]
  return (error) => {
    if (!leadsElsewhere(error)) return false
    const now = performance.now()
    if (now - since > repeatMilliseconds) [since, repeats] = [now, 0]
    repeats += 1
    return repeats > maxRepeats ? 1 : 2
  }
}

const optionsByMode = {
  // The longest that a command waits for a job is ten seconds.
  block: { maxRetriesPerRequest: null, socketTimeout: 12_000 },
  // Reconnection attempts are 50 ms or more apart.
  retry: { maxRetriesPerRequest: 3, socketTimeout: 3000 },
  // A Redis that accepts connections and does not answer is unavailable too.
  'fail-fast': { maxRetriesPerRequest: 0, enableOfflineQueue: false, commandTimeout: 250 },
} satisfies Record<ConnectionMode, RedisOptions>

const common = {
  connectTimeout: 2000,
  disconnectTimeout: 100,
  keepAlive: 5000,
  retryStrategy: (times) => Math.min(times * 50, 500),
  reconnectOnError: (error) => leadsElsewhere(error),
} satisfies RedisOptions

/**
 * Writes the commands of one turn of the event loop to the socket together: a write costs more than building the
 * command, and a busy process sends several per turn. No command is delayed beyond its turn.
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

/** The Redis connections of a process. */
export interface RedisConnections {
  /** The prefix of all keys and channels of this platform. */
  prefix: string
  /** For short commands: jobs, signals, queries. They fail rather than wait. */
  sender: Redis
  /** Opens another connection. It reconnects by itself; the caller closes it. */
  connect(patience: ConnectionMode): Redis
  /**
   * Whether all open connections are in use, or were lost a moment ago. A server that answers on some may refuse to renew
   * others: at its `maxclients`, or after a change of its password.
   */
  areConnected(): boolean
  /** Closes the connections, which get no answers; they reconnect. */
  cut(): void
}

/** A connection that has not been renewed for so long is refused. */
const renewalMilliseconds = 2000

/** @param isUp whether Redis is available; during a known outage, connection errors are not logged */
export function openRedis(
  { url, allowSelfSigned, prefix }: NonNullable<Config['redis']>,
  log: Logger,
  isUp: () => boolean,
): RedisConnections {
  const open = new Set<Redis>()
  /** When a connection was lost, or first opened, of those that are not in use; by `performance.now()`. */
  const lost = new Map<Redis, number>()

  function keep(redis: Redis): Redis {
    open.add(redis)
    redis.on('connect', () => open.add(redis))
    redis.on('end', () => open.delete(redis))
    const lose = () => lost.set(redis, lost.get(redis) ?? performance.now())
    lose()
    redis.on('close', lose)
    for (const over of ['ready', 'end']) redis.on(over, () => lost.delete(redis))
    redis.on('error', (error: Error) => {
      log[isUp() ? 'error' : 'debug']({ err: error }, 'Redis connection error')
      // The connection would use the first database in place of the one that the server does not have.
      if (error.message.includes('DB index is out of range')) redis.disconnect(true)
    })
    // BullMQ makes its blocking connection by `duplicate()`.
    const duplicate = redis.duplicate.bind(redis)
    redis.duplicate = (options) => keep(duplicate(options))
    return redis
  }

  const connect = (patience: ConnectionMode) =>
    keep(
      new CorkedRedis(url, {
        ...common,
        ...optionsByMode[patience],
        ...(patience === 'block' && { reconnectOnError: repeatElsewhere() }),
        ...(allowSelfSigned && url.startsWith('rediss:') && { tls: { rejectUnauthorized: false } }),
      }),
    )

  return {
    prefix,
    sender: connect('retry'),
    connect,
    areConnected: () => lost.values().every((since) => performance.now() - since < renewalMilliseconds),
    cut() {
      for (const redis of open) redis.disconnect(true)
    },
  }
}
