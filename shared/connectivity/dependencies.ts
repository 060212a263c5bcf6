import type { Redis } from 'ioredis'
import type { Config } from '../config/config.ts'
import type { Logger } from '../telemetry/logger.ts'
import { openRedis, type RedisConnections } from './redis.ts'
import { openConnections, type Connections } from '../store/connections.ts'
import { openListenConnection, type ListenConnection } from '../store/listen-connection.ts'
import { watch, type Dependency, type Watch } from './dependency-monitor.ts'

/**
 * The external services of this process. While one is unavailable, work that needs it waits or fails fast, and
 * continues on its return.
 */
export interface Dependencies extends AsyncDisposable {
  database: Dependency & DatabaseClock & { listenConnection: ListenConnection; connections: Connections }
  /** Absent when Redis is not configured. */
  redis?: Dependency & RedisConnections
  /** The service that carries the queue and the signals. */
  broker: Dependency
  all: Dependency[]
}

/** The clock of PostgreSQL, which decides when rows are due. */
export interface DatabaseClock {
  /** The present time by PostgreSQL's clock, or by this machine's where the two differ by less than two seconds. */
  now(): Date
  /** Milliseconds by which PostgreSQL's clock is ahead of this machine's. */
  clockDifference(): number
}

/** A difference of clocks from which on times are corrected, and operators are told. */
const maxClockMilliseconds = 2000

/** Starts the dependency monitors. All dependencies may be unavailable at this time. */
export function openDependencies(config: Config, log: Logger): Dependencies {
  const database = openDatabaseMonitor(config, log)
  const redis = config.redis && openRedisMonitor(config.redis, log)
  const watches: (Dependency & Watch)[] = [database, ...(redis ? [redis] : [])]
  return {
    database,
    ...(redis && { redis }),
    broker: redis ?? database,
    all: watches,
    async [Symbol.asyncDispose]() {
      await Promise.all(watches.map((one) => one.close()))
    },
  }
}

function openDatabaseMonitor(config: Config, log: Logger) {
  const listenConnection = openListenConnection(config.database, log)
  const connections = openConnections()
  const { clockDifference } = listenConnection
  const areClocksApart = () => Math.abs(clockDifference()) >= maxClockMilliseconds
  let isReported = false

  function reportClocks(): void {
    if (areClocksApart() === isReported) return
    isReported = !isReported
    const differenceMilliseconds = Math.round(clockDifference())
    if (isReported) {
      const message = 'The clocks of this machine and of PostgreSQL differ: synchronise both with a time server'
      log.error({ differenceMilliseconds }, message)
    } else log.warn({ differenceMilliseconds }, 'The clocks of this machine and of PostgreSQL agree again')
  }

  const watched = watch(
    {
      name: 'database',
      async ping() {
        await listenConnection.ping()
        reportClocks()
      },
      cut() {
        listenConnection.cut()
        connections.cut()
      },
      end: () => listenConnection.close(),
    },
    log,
  )
  listenConnection.onLost(() => watched.probe())
  return {
    ...watched,
    listenConnection,
    connections,
    clockDifference,
    now: () => new Date(Date.now() + (areClocksApart() ? clockDifference() : 0)),
  }
}

/** After this time nothing of the monitors of ended platforms is left in Redis. */
const pingMilliseconds = 60_000

function openRedisMonitor(settings: NonNullable<Config['redis']>, log: Logger) {
  // Evaluated lazily: the connections and the monitor need each other.
  const isUp = () => watched.isUp()
  const connections = openRedis(settings, log, isUp)
  const sender: Redis = connections.sender
  const watched: Watch = watch(
    {
      name: 'redis',
      // A write: a Redis that is full, a read-only replica or one that cannot save answers PING, and takes no job.
      ping: () => sender.set(`${settings.prefix}:ping`, '', 'PX', pingMilliseconds),
      cut: () => connections.cut(),
      async end() {
        sender.disconnect()
      },
    },
    log,
  )
  sender.on('close', () => watched.probe())
  return { ...watched, ...connections }
}
