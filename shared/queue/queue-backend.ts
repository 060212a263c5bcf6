import { createRedisBackend, withBackend, type BackendClasses, type IQueueBackend } from 'bullmq'
import { Pool } from 'pg'
import type { Config } from '../config/config.ts'
import { listeningConnections, sendingConnections } from '../config/connection-budget.ts'
import type { Dependencies } from '../connectivity/dependencies.ts'
import type { Logger } from '../telemetry/logger.ts'
import { postgresQueueBackend } from './postgres-queue-backend.ts'
import { statementMilliseconds } from '../store/connections.ts'
import { connectionSettings } from '../store/database.ts'

/** What either end of the queue is opened with. */
export interface QueueParts {
  dependencies: Dependencies
  config: Config
  log: Logger
}

type AnyClasses = BackendClasses<IQueueBackend, unknown>

/** BullMQ's classes for where jobs live, and what they connect with. */
export interface QueueBackend extends AnyClasses {
  connection: unknown
  prefix?: string
  /** Closes what BullMQ leaves to us. */
  release(): Promise<void>
}

/** Which end of the queue: that of whoever answers requests fails soon, that of the worker waits. */
export type QueueEnd = 'sends' | 'receives'

/** Chooses where jobs live: in Redis when it is configured, else in PostgreSQL. Nothing else knows. */
export function openQueueBackend({ dependencies, config, log }: QueueParts, end: QueueEnd): QueueBackend {
  const { redis, database } = dependencies
  if (redis) {
    const connection = end === 'sends' ? redis.sender : redis.connect('block')
    return {
      ...(withBackend(createRedisBackend) as unknown as AnyClasses),
      connection,
      prefix: redis.prefix,
      async release() {
        if (connection !== redis.sender) connection.disconnect()
      },
    }
  }
  const pool = new Pool({
    ...connectionSettings(config.database),
    max: end === 'sends' ? sendingConnections : config.database.queueSize + listeningConnections,
    query_timeout: statementMilliseconds,
    // BullMQ's tables have a schema of their own, and its statements name none. They need not wait for the disk: what a
    // crash of PostgreSQL takes back of the queue, the sweep makes up for, as when all of it is lost.
    options: '-c search_path=bullmq -c synchronous_commit=off',
  })
  pool.on('connect', (connection) => {
    // What waits for jobs reports its end there too, and so does what is idle; neither may end this process.
    connection.on('error', (error: Error) => log.debug({ err: error }, 'Queue connection lost'))
    database.connections.add(connection)
  })
  return {
    ...(withBackend(postgresQueueBackend(pool)) as unknown as AnyClasses),
    connection: pool,
    async release() {
      if (!database.isUp()) database.connections.cut()
      await pool.end()
    },
  }
}
