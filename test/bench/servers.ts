import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, escapeIdentifier } from 'pg'
import { startEmbeddedPostgres } from '../../cli/postgres/embedded-postgres.ts'
import { startRedis } from '../support/redis.ts'

/** The servers that both sides share. */
export interface Servers {
  redis: { url: string; pid: number }
  postgres: {
    pid: number
    /** Makes an empty database and returns its connection URL. */
    createDatabase(name: string): Promise<string>
    /**
     * Runs PostgreSQL's deferred work at once: vacuums and analyses a database's tables and writes a checkpoint. So no
     * measurement pays for an earlier one, and query plans are those of a database in use.
     */
    settle(databaseUrl: string): Promise<void>
  }
}

/** Starts a PostgreSQL with its default, durable settings and a Redis, both for this run only. */
export async function startServers(parts: AsyncDisposableStack): Promise<Servers> {
  const directory = await mkdtemp(join(tmpdir(), 'isobot-bench-'))
  parts.defer(() => rm(directory, { recursive: true, force: true }))
  const postgres = await startEmbeddedPostgres({ directory, temporary: true, log: () => {} })
  parts.defer(() => postgres.stop())
  const redis = await startRedis()
  parts.defer(() => redis.stop())

  const administrator = new Client({ connectionString: postgres.url })
  await administrator.connect()
  parts.defer(() => administrator.end())
  return {
    redis: { url: redis.url, pid: redis.pid },
    postgres: {
      pid: postgres.pid,
      async createDatabase(name) {
        await administrator.query(`create database ${escapeIdentifier(name)}`)
        const url = new URL(postgres.url)
        url.pathname = `/${name}`
        return url.href
      },
      async settle(databaseUrl) {
        const client = new Client({ connectionString: databaseUrl })
        await client.connect()
        try {
          await client.query('vacuum analyze')
          await client.query('checkpoint')
        } finally {
          await client.end()
        }
      },
    },
  }
}
