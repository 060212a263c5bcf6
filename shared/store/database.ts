import knex, { type Knex } from 'knex'
import type { ClientBase, QueryResultRow } from 'pg'
import type { Config } from '../config.ts'

/** Where rows are read and written: the pool, or a transaction on it. */
export type Database = Knex

/** Opens the pool. Connections are made as they are needed, so this does not fail while the database is away. */
export function openDatabase({ url, poolSize, allowSelfSigned }: Config['database']): Database {
  return knex({
    client: 'pg',
    connection: connectionSettings({ url, allowSelfSigned }),
    pool: { min: 0, max: poolSize, afterCreate: preferIndexes },
    acquireConnectionTimeout: 10_000,
  })
}

/**
 * Every statement here has its index. A planner that knows no statistics yet takes a new table for so small that it
 * reads it whole, and keeps to that plan while the table grows (docs/decisions/0007).
 */
function preferIndexes(connection: ClientBase, done: (error: Error | null, connection: ClientBase) => void): void {
  connection.query('set enable_seqscan = off', (error: Error | null) => done(error, connection))
}

/** Settings for any client of the `pg` package. */
export function connectionSettings({ url, allowSelfSigned }: Omit<Config['database'], 'poolSize'>) {
  return {
    connectionString: url,
    application_name: 'isobot',
    ...(allowSelfSigned && { ssl: { rejectUnauthorized: false } }),
  }
}

/** A value for a statement: what `pg` turns into text or null. */
type Binding = string | number | boolean | Date | Buffer | string[] | null

/**
 * Runs one SQL statement with named bindings (`:name`) and gives its rows. PostgreSQL parses and plans it once for each
 * connection, which takes longer than the statements of the straight line themselves (docs/decisions).
 *
 * @param sql always the same text for the same statement: it must not hold values
 */
export async function query<Row>(db: Database, sql: string, bindings: Record<string, Binding>): Promise<Row[]> {
  const { name, text, parameters } = prepare(sql)
  const values = parameters.map((parameter) => bindings[parameter] as Binding)
  const client = db.client as ConnectionSource
  const connection = await client.acquireConnection()
  try {
    const { rows } = await connection.query<Row & QueryResultRow>({ name, text, values })
    return rows
  } finally {
    client.releaseConnection(connection)
  }
}

/** The part of knex's client that lends connections: the pool's, or a transaction's own. */
interface ConnectionSource {
  acquireConnection(): Promise<ClientBase>
  releaseConnection(connection: ClientBase): void
}

interface PreparedStatement {
  name: string
  text: string
  /** The names of `$1`, `$2`, … */
  parameters: string[]
}

const preparedStatements = new Map<string, PreparedStatement>()

function prepare(sql: string): PreparedStatement {
  const known = preparedStatements.get(sql)
  if (known) return known
  const parameters: string[] = []
  // A cast is two colons; a colon inside a word is text.
  const text = sql.replaceAll(/(?<![:\w]):(\w+)/g, (_match, parameter: string) => {
    if (!parameters.includes(parameter)) parameters.push(parameter)
    return `$${parameters.indexOf(parameter) + 1}`
  })
  const statement = { name: `isobot_${preparedStatements.size}`, text, parameters }
  preparedStatements.set(sql, statement)
  return statement
}
