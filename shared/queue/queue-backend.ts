import { createRedisBackend, withBackend, type BackendClasses, type IQueueBackend } from 'bullmq'
import { Pool } from 'pg'
import type { Config } from '../config/config.ts'
import { listeningConnections, sendingConnections } from '../config/connection-budget.ts'
import type { Dependencies } from '../connectivity/dependencies.ts'
import type { Logger } from '../telemetry/logger.ts'
import { postgresQueueBackend } from './postgres-queue-backend.ts'
import { ReceiverHealth } from './receiver-health.ts'
import { statementMilliseconds } from '../store/connections.ts'
import { connectionSettings } from '../store/database.ts'

/** The arguments for opening either end of the queue. */
export interface QueueParts {
  dependencies: Dependencies
  config: Config
  log: Logger
}

type AnyClasses = BackendClasses<IQueueBackend, unknown>

/** BullMQ's classes for the chosen back end, and their connection. */
export interface QueueBackend extends AnyClasses {
  connection: unknown
  prefix?: string
  /** Whether jobs that are added at the same time are to be one statement: there is one connection for them. */
  addsTogether: boolean
  /** Of the receiving end. */
  health: ReceiverHealth
  /** Closes the resources that BullMQ does not own. */
  release(): Promise<void>
}

/** The end of the queue: operations of the sending end fail fast, those of the receiving end wait. */
export type QueueEnd = 'sends' | 'receives'

/** Chooses the back end: Redis when it is configured, else PostgreSQL. No other module depends on the choice. */
export function openQueueBackend({ dependencies, config, log }: QueueParts, end: QueueEnd): QueueBackend {
  const { redis, database } = dependencies
  const health = new ReceiverHealth()
  if (redis) {
    const connection = end === 'sends' ? redis.sender : redis.connect('block')
    return {
      ...(withBackend(health.watching(createRedisBackend)) as unknown as AnyClasses),
      connection,
      prefix: redis.prefix,
      addsTogether: false,
      health,
      async release() {
        if (connection !== redis.sender) connection.disconnect()
      },
    }
  }
  const pool = new Pool({
    ...connectionSettings(config.database),
    max: end === 'sends' ? sendingConnections : config.database.queueSize + listeningConnections,
    query_timeout: statementMilliseconds,
    // BullMQ's tables have a schema of their own, and its statements name none. Commits need not wait for the disk:
    // jobs that a crash of PostgreSQL loses are replaced by the sweep, as after a loss of the whole queue. Poolers refuse
    // settings in the parameters of a connection. The pool waits for the promise, contrary to its type.
    onConnect: (connection) => connection.query('set search_path to bullmq; set synchronous_commit to off'),
  })
  pool.on('connect', (connection) => {
    // Connections that wait for jobs, and idle ones, emit their errors here too; unhandled, these would end the
    // process.
    connection.on('error', (error: Error) => log.debug({ err: error }, 'Queue connection lost'))
    database.connections.add(connection)
  })
  return {
    ...(withBackend(health.watching(postgresQueueBackend(pool, database))) as unknown as AnyClasses),
    connection: pool,
    addsTogether: true,
    health,
    async release() {
      if (!database.isUp()) database.connections.cut()
      await pool.end()
    },
  }
}
