import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { Client, DatabaseError } from 'pg'
import { startEmbeddedPostgres } from '../../cli/postgres/embedded-postgres.ts'
import { startRedis } from '../support/redis.ts'

/** The database and the queue's server, whose failures can be simulated. */
export interface Postgres {
  port(): number
  /** The database's URL on a port: that of the server, or of a link to it. */
  urlOn(port: number): string
  /** Shuts down at once, as in a crash, without writing pending data. Starts again, and recovers from its log. */
  crash(): Promise<void>
}

export interface RedisServer {
  port(): number
  flush(): Promise<void>
  /** Stops and starts again, empty. */
  restart(downMilliseconds: number): Promise<void>
  /** Removes all job locks, as a jump of its clock would. */
  expireLocks(): Promise<void>
}

/**
 * Starts a PostgreSQL with an empty database.
 *
 * @param settings settings of the server; the default ones are durable
 */
export async function openPostgres(parts: AsyncDisposableStack, settings: Record<string, string>): Promise<Postgres> {
  const directory = await mkdtemp(join(tmpdir(), 'isobot-chaos-'))
  parts.defer(() => rm(directory, { recursive: true, force: true }))
  const start = () => startEmbeddedPostgres({ directory, log: () => {}, settings })
  let server = await start()
  parts.defer(() => server.stop())
  return {
    port: () => Number(new URL(server.url).port),
    urlOn(port) {
      const url = new URL(server.url)
      url.port = String(port)
      return url.href
    },
    async crash() {
      process.kill(server.pid, 'SIGQUIT')
      await server.exited
      server = await start()
    },
  }
}

export async function openRedis(parts: AsyncDisposableStack): Promise<RedisServer> {
  let server = await startRedis()
  parts.defer(() => server.stop())

  async function execute(act: (client: Redis) => Promise<unknown>): Promise<void> {
    const client = new Redis(server.url)
    try {
      await act(client)
    } finally {
      client.disconnect()
    }
  }

  return {
    port: () => Number(new URL(server.url).port),
    flush: () => execute((client) => client.flushall()),
    async restart(downMilliseconds) {
      await server.stop()
      await pause(downMilliseconds)
      server = await startRedis()
    },
    expireLocks: () =>
      execute(async (client) => {
        const locks = await client.keys('*:lock')
        if (locks.length > 0) await client.del(locks)
      }),
  }
}

/** Retries when PostgreSQL has cancelled this statement to resolve a deadlock with statements of the queue. */
async function retryOnDeadlock(ask: () => Promise<unknown>): Promise<void> {
  try {
    await ask()
  } catch (error) {
    if (!(error instanceof DatabaseError && error.code === '40P01')) throw error
    await retryOnDeadlock(ask)
  }
}

/** The same faults for a queue in PostgreSQL as for one in Redis. */
export function openPostgresQueue(postgres: Postgres) {
  async function execute(...statements: string[]): Promise<void> {
    const client = new Client({ connectionString: postgres.urlOn(postgres.port()) })
    await client.connect()
    try {
      for (const statement of statements) await retryOnDeadlock(() => client.query(statement))
    } finally {
      await client.end()
    }
  }

  return {
    flush: () => execute('delete from bullmq.job', 'delete from bullmq.dedup', 'delete from bullmq.dedup_next'),
    expireLocks: () => execute(`update bullmq.job set locked_until_ms = 1, lock_token = 'lost' where state = 'active'`),
  }
}
