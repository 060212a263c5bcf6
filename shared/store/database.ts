import knex, { type Knex } from 'knex'
import type { ClientBase, QueryResultRow } from 'pg'
import type { Config } from '../config/config.ts'
import { deadlockDetected, postgresCode } from '../errors.ts'
import { cutOff, isGivenUp, statementMilliseconds, type Connections } from './connections.ts'
import { traceBuilt, tracedStatement } from './traced-statements.ts'

/** Where rows are read and written: the pool, or a transaction on it. */
export type Database = Knex

/** Who finds no connection free in this time is refused: what holds them all is slow, and gets slower by waiting. */
const acquireMilliseconds = 5000

/**
 * Opens the pool. Connections are made as they are needed, so this does not fail while the database is away.
 *
 * @param connections keeps those of the pool, to cut them when the database is away
 */
export function openDatabase(
  { url, poolSize, allowSelfSigned }: Omit<Config['database'], 'queueSize'>,
  connections?: Connections,
): Database {
  const byId = new Map<string, ClientBase>()
  const db = knex({
    client: 'pg',
    connection: { ...connectionSettings({ url, allowSelfSigned }), query_timeout: statementMilliseconds },
    pool: {
      min: 0,
      max: poolSize,
      afterCreate(connection: ClientBase & Identified, done: Done) {
        connections?.add(connection)
        const { __knexUid: id } = connection
        byId.set(id, connection)
        connection.once('end', () => byId.delete(id))
        preferIndexes(connection, done)
      },
    },
    acquireConnectionTimeout: acquireMilliseconds,
    // It would print each connection that breaks; who needed it says so.
    log: { warn() {} },
  })
  db.on('query-error', (error: unknown, { __knexUid: id }: Identified) => {
    const connection = byId.get(id)
    if (connection && isGivenUp(error)) cutOff(connection)
  })
  traceBuilt(db)
  return db
}

/** How knex tells connections apart. */
interface Identified {
  __knexUid: string
}

type Done = (error: Error | null, connection: ClientBase) => void

/**
 * Every statement here has its index. A planner that knows no statistics yet takes a new table for so small that it
 * reads it whole, and keeps to that plan while the table grows (docs/decisions/0007). A plan is made once for each
 * connection and not for each set of values (docs/decisions/0023): what a partial index is for is no value.
 */
function preferIndexes(connection: ClientBase, done: Done): void {
  const settings = 'set enable_seqscan = off; set plan_cache_mode = force_generic_plan'
  connection.query(settings, (error: Error | null) => done(error, connection))
}

/** A server that does not take a connection in this time is away. */
const connectMilliseconds = 2000
/** How soon an idle connection is asked whether its other end is still there; ten seconds later it is given up. */
const keepAliveMilliseconds = 5000

/** Settings for any client of the `pg` package. */
export function connectionSettings({ url, allowSelfSigned }: Pick<Config['database'], 'url' | 'allowSelfSigned'>) {
  return {
    connectionString: url,
    application_name: 'isobot',
    connectionTimeoutMillis: connectMilliseconds,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMilliseconds,
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
export function query<Row>(db: Database, sql: string, bindings: Record<string, Binding>): Promise<Row[]> {
  return tracedStatement(sql, () => executeAgain<Row>(db, sql, bindings))
}

/** How often a statement is tried at all that PostgreSQL takes back because it and another wait for each other. */
const maxAttempts = 3

/** A statement by itself leaves nothing when it fails, so one that met another in a deadlock is simply repeated. */
async function executeAgain<Row>(db: Database, sql: string, bindings: Record<string, Binding>): Promise<Row[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await execute<Row>(db, sql, bindings)
    } catch (error) {
      if (db.isTransaction || attempt === maxAttempts || postgresCode(error) !== deadlockDetected) throw error
    }
  }
}

async function execute<Row>(db: Database, sql: string, bindings: Record<string, Binding>): Promise<Row[]> {
  const { name, text, parameters } = prepare(sql)
  const values = parameters.map((parameter) => bindings[parameter] as Binding)
  const client = db.client as ConnectionSource
  const connection = await client.acquireConnection()
  try {
    const { rows } = await connection.query<Row & QueryResultRow>({ name, text, values })
    return rows
  } catch (error) {
    if (isGivenUp(error)) cutOff(connection)
    throw error
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
