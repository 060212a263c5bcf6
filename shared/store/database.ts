import knex, { type Knex } from 'knex'
import type { Config } from '../config.ts'

/** Where rows are read and written: the pool, or a transaction on it. */
export type Database = Knex

/** Opens the pool. Connections are made as they are needed, so this does not fail while the database is away. */
export function openDatabase({ url, poolSize, allowSelfSigned }: Config['database']): Database {
  return knex({
    client: 'pg',
    connection: connectionSettings({ url, allowSelfSigned }),
    pool: { min: 0, max: poolSize },
    acquireConnectionTimeout: 10_000,
  })
}

/** Settings for any client of the `pg` package. */
export function connectionSettings({ url, allowSelfSigned }: Omit<Config['database'], 'poolSize'>) {
  return {
    connectionString: url,
    application_name: 'isobot',
    ...(allowSelfSigned && { ssl: { rejectUnauthorized: false } }),
  }
}

/** Runs one SQL statement with named bindings (`:name`) and gives its rows. */
export async function query<Row>(db: Database, sql: string, bindings: Record<string, Knex.RawBinding>): Promise<Row[]> {
  const { rows } = await db.raw<{ rows: Row[] }>(sql, bindings)
  return rows
}
