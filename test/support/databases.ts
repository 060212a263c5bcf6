import { randomBytes } from 'node:crypto'
import { Client, escapeIdentifier } from 'pg'
import { inject } from 'vitest'
import type { Database } from '#shared/store/database.ts'

export interface TestDatabase {
  readonly url: string
  /** Drops the database even if clients are connected. */
  drop(): Promise<void>
}

/** Makes a database with all tables and no rows, for one test file. */
export async function createDatabase(): Promise<TestDatabase> {
  const administration = inject('databaseUrl')
  const template = inject('templateDatabase')
  const name = `${template}_${randomBytes(6).toString('hex')}`
  await administer(administration, `create database ${escapeIdentifier(name)} template ${escapeIdentifier(template)}`)
  return {
    url: urlOf(administration, name),
    drop: () => administer(administration, `drop database if exists ${escapeIdentifier(name)} with (force)`),
  }
}

/** The URL of another database on the same server. */
export function urlOf(databaseUrl: string, name: string): string {
  const url = new URL(databaseUrl)
  url.pathname = `/${name}`
  return url.href
}

/** Runs one statement that cannot be part of a transaction. */
export async function administer(databaseUrl: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

/** The number of statements of a database that wait for a lock. */
export async function countLockWaits(db: Database): Promise<number> {
  const { rows } = await db.raw<{ rows: [{ count: number }] }>(
    `select count(*)::integer as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return rows[0].count
}
