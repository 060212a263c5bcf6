import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import knex, { type Knex } from 'knex'
import type { ClientBase, QueryConfig } from 'pg'
import type { Config } from '../config/config.ts'
import { isConflict, isReadOnly, isStalePlan } from '../errors.ts'
import type { ShareMetrics } from '../telemetry/metrics.ts'
import { shareConnections } from './connection-shares.ts'
import { destroySocket, isAbandoned, statementMilliseconds, type Connections } from './connections.ts'
import { executePrepared, type Binding, type Driver, type PreparedStatement } from './prepared-statement.ts'
import { traceBuilt, tracedStatement } from './traced-statements.ts'

/** The pool, or a transaction on it. */
export type Database = Knex

/**
 * A request for a connection fails after this time: all connections are busy with slow work, and waiting adds to the
 * load.
 */
const acquireMilliseconds = 5000

/**
 * Opens the pool. Connections are made on demand, so this does not fail while the database is unavailable.
 *
 * @param connections registers the pool's connections, to cut them when the database becomes unavailable
 * @param metrics count the waits for the shares of tenants
 */
export function openDatabase(
  { url, poolSize, allowSelfSigned }: Omit<Config['database'], 'queueSize'>,
  connections?: Connections,
  metrics?: ShareMetrics,
): Database {
  const byId = new Map<string, ClientBase>()
  const db = knex({
    client: 'pg',
    // The oldest that is supported. knex would ask for it, on a connection that it forgets if there is no answer.
    version: '15',
    connection: { ...connectionSettings({ url, allowSelfSigned }), query_timeout: statementMilliseconds },
    pool: {
      min: 0,
      max: poolSize,
      afterCreate(connection: ClientBase & Identified, done: Done) {
        connections?.add(connection)
        openedAt.set(connection, performance.now())
        const { __knexUid: id } = connection
        byId.set(id, connection)
        connection.once('end', () => byId.delete(id))
        preferIndexes(connection, done)
      },
    },
    acquireConnectionTimeout: acquireMilliseconds,
    // knex would print each broken connection; the callers report the failure.
    log: { warn() {} },
  })
  db.on('query-error', (error: unknown, { __knexUid: id }: Identified) => {
    const connection = byId.get(id)
    if (connection) dropUnfit(connection, error)
  })
  traceBuilt(db)
  shareConnections(db, poolSize, metrics)
  return db
}

const openedAt = new WeakMap<ClientBase, number>()

/** Interval at which a connection to a read-only server is replaced. */
const readOnlyMilliseconds = 1000

/**
 * Has the pool replace a connection that is of no use after this failure. One that was read-only from its start stays so: that of
 * a replica, to which the address led during a failover, or of a database whose default was changed since.
 */
function dropUnfit(connection: ClientBase, error: unknown): void {
  if (isAbandoned(error)) destroySocket(connection)
  const age = performance.now() - (openedAt.get(connection) ?? 0)
  // knex closes it instead of lending it again.
  if (isReadOnly(error) && age > readOnlyMilliseconds)
    Object.assign(connection, { __knex__disposed: 'It is read-only' })
}

/** knex's identification of connections. */
interface Identified {
  __knexUid: string
}

type Done = (error: Error | null, connection: ClientBase) => void

/**
 * Every statement has an index. Without statistics, the planner takes a new table for so small that it scans it, and
 * keeps that plan while the table grows (docs/decisions/0007). A plan is made once per connection and not per set of
 * values (docs/decisions/0023), so the condition of a partial index must not be a binding.
 */
function preferIndexes(connection: ClientBase, done: Done): void {
  // A statement that is abandoned here ends there too, and does not keep a processor of the server from others.
  const text =
    'set enable_seqscan = off; set plan_cache_mode = force_generic_plan; ' +
    `set statement_timeout = ${statementMilliseconds + 1000}`
  const settings: TimedQuery = { text, query_timeout: firstAnswerMilliseconds }
  connection.query(settings, (error: Error | null) => {
    if (!error) return done(null, connection)
    // knex forgets a connection whose hook fails, and leaves it open: behind a pooler it would take a connection of the server for ever.
    destroySocket(connection)
    done(isAbandoned(error) ? new Error(noServerConnection, { cause: error }) : error, connection)
  })
}

/** An option of statements that the types of `pg` lack. */
interface TimedQuery extends QueryConfig {
  query_timeout: number
}

/** Less than the wait for a connection, so that the request that waits for this one gets its error. */
const firstAnswerMilliseconds = 4000
/** The end of the text is that of an abandoned statement. */
const noServerConnection =
  'A new connection to PostgreSQL got no answer: behind a pooler, raise its pool size ' +
  '(see “Connections” in docs/operating.md): Query read timeout'

/** A server that does not accept a connection within this time is unavailable. */
const connectMilliseconds = 2000
/** Idle time before TCP keep-alive probes start; ten seconds later the connection is closed. */
const keepAliveMilliseconds = 5000

/** Settings for any client of the `pg` package. */
export function connectionSettings({ url, allowSelfSigned }: Pick<Config['database'], 'url' | 'allowSelfSigned'>) {
  return {
    connectionString: allowSelfSigned ? withoutVerification(url) : url,
    application_name: 'isobot',
    connectionTimeoutMillis: connectMilliseconds,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMilliseconds,
    ...(allowSelfSigned && { ssl: { rejectUnauthorized: false } }),
  }
}

/**
 * In the library the options of TLS in the address override others, and its `sslmode=require` verifies certificates. An address
 * that asks for the verification, or names certificates of its own, keeps it.
 */
function withoutVerification(url: string): string {
  if (/[?&](sslrootcert|uselibpqcompat)=/.test(url)) return url
  return url.replace(/([?&])(?:sslmode=(?:require|prefer|allow)|ssl=(?:true|1))(?=&|#|$)/g, '$1sslmode=no-verify')
}

/**
 * Runs one SQL statement with named bindings (`:name`) and returns its rows. PostgreSQL parses and plans it once per
 * connection, which takes longer than the execution of the statements of the message path (docs/decisions).
 *
 * @param sql the same text for the same statement on every call: it must not contain values
 */
export function query<Row>(db: Database, sql: string, bindings: Record<string, Binding>): Promise<Row[]> {
  return tracedStatement(sql, () => executeAgain<Row>(db, sql, bindings))
}

/** Upper bound of attempts for a statement or a transaction that PostgreSQL aborts because of a concurrent one. */
const maxAttempts = 3
/** PostgreSQL has ended one side of a deadlock: the other takes its locks in this time, before the first asks for them again. */
const repeatMilliseconds = 50

/** Outside of a transaction a failed statement leaves no changes, so one that a conflict ended is simply repeated. */
function executeAgain<Row>(db: Database, sql: string, bindings: Record<string, Binding>): Promise<Row[]> {
  return repeatConflicted(db, () => execute<Row>(db, sql, bindings))
}

/**
 * Performs work in a transaction, and all of it again when PostgreSQL aborts it because of a concurrent one. Within a transaction
 * it is a savepoint, and is not repeated: a conflict may concern rows that the outer transaction has locked.
 *
 * @param work changes nothing but the database: effects elsewhere, such as signals, follow the commit
 */
export function transact<Result>(db: Database, work: (transaction: Database) => Promise<Result>): Promise<Result> {
  return repeatConflicted(db, () => db.transaction(work))
}

async function repeatConflicted<Result>(db: Database, act: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await act()
    } catch (error) {
      if (db.isTransaction || attempt === maxAttempts || !isConflict(error)) throw error
      await pause(repeatMilliseconds)
    }
  }
}

async function execute<Row>(db: Database, sql: string, bindings: Record<string, Binding>): Promise<Row[]> {
  const statement = prepare(sql)
  const { name } = statement
  const values = statement.parameters.map((parameter) => bindings[parameter] as Binding)
  const client = db.client as ConnectionSource
  const connection = await client.acquireConnection()
  try {
    return await executePrepared<Row>(client.driver, connection, statement, values)
  } catch (error) {
    // In place of the stack of the socket's event: the one that leads to the caller.
    if (error instanceof Error) Error.captureStackTrace(error)
    dropUnfit(connection, error)
    if (isStalePlan(error)) renew(statement, name)
    throw error
  } finally {
    client.releaseConnection(connection)
  }
}

/** The part of knex's client that lends connections: the pool's, or a transaction's. */
interface ConnectionSource {
  /** The package `pg`. */
  driver: Driver
  acquireConnection(): Promise<ClientBase>
  releaseConnection(connection: ClientBase): void
}

interface NamedStatement extends PreparedStatement {
  /** The names of `$1`, `$2`, … */
  parameters: string[]
}

/** Has all connections parse a statement again, under another name, unless one has been found since. */
function renew(statement: NamedStatement, staleName: string): void {
  if (statement.name === staleName) statement.name = `${staleName}_`
}

const preparedStatements = new Map<string, NamedStatement>()
/** Digits of a statement's hash in its name. */
const hashDigits = 24

function prepare(sql: string): NamedStatement {
  const known = preparedStatements.get(sql)
  if (known) return known
  const parameters: string[] = []
  // A cast is two colons; a colon inside a word is text.
  const text = sql.replaceAll(/(?<![:\w]):(\w+)/g, (_match, parameter: string) => {
    if (!parameters.includes(parameter)) parameters.push(parameter)
    return `$${parameters.indexOf(parameter) + 1}`
  })
  // Behind a pooler that shares connections, a name that another process has given must not be that of another statement.
  const name = `isobot_${createHash('sha256').update(text).digest('hex').slice(0, hashDigits)}`
  const statement = { name, text, parameters }
  preparedStatements.set(sql, statement)
  return statement
}
