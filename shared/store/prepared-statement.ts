import type { ClientBase, Submittable } from 'pg'

/** A value that `pg` can send as text or null. */
export type Binding = string | number | boolean | Date | Buffer | string[] | number[] | Buffer[] | null

/** A statement that PostgreSQL parses once per connection. */
export interface PreparedStatement {
  name: string
  /** The SQL, with `$1`, `$2`, … for the values. */
  text: string
}

/** The columns of a statement's rows. */
interface Columns {
  names: string[]
  /** From PostgreSQL's text to the value of the column. */
  parsers: ((text: string) => unknown)[]
  /** A row of nulls, which each row begins as a copy of: all rows of a statement then have the same shape. */
  empty: Record<string, unknown>
}

/** The part of `pg`'s connection that sends an execution. */
interface Wire {
  stream: { cork(): void; uncork(): void }
  /** The texts of the statements that the server has parsed, by name. */
  parsedStatements: Record<string, string>
  parse(statement: PreparedStatement): void
  bind(how: { statement: string; values: unknown[] }): void
  describe(what: { type: 'P' }): void
  execute(): void
  sync(): void
}

/** The part of the package `pg` that makes text of values. The command line alone goes without the package, so it is given. */
export interface Driver {
  utils: { prepareValue(value: Binding): unknown }
}

/** By connection, since a connection to another server, or after a migration, may return other columns. */
const knownColumns = new WeakMap<Wire, Map<string, Columns>>()

/**
 * Executes a prepared statement, and returns its rows. `pg` itself has the server describe the columns with each
 * execution, and prepares to parse them, which takes longer than the rows of most statements: here this happens once per
 * connection. The server rejects an execution whose columns would differ from those of the parsed statement.
 */
export function executePrepared<Row>(
  driver: Driver,
  connection: ClientBase,
  statement: PreparedStatement,
  values: Binding[],
): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    const ended = (error: Error | null, rows?: unknown[]) => (error ? reject(error) : resolve(rows as Row[]))
    // Before the connection knows of the execution: it would wait for the end of one that throws while it is sent.
    const texts = values.map((value) => driver.utils.prepareValue(value))
    connection.query(new Execution(connection, statement, texts, ended))
  })
}

/** An execution in the form in which `pg`'s client takes queries from other packages. */
class Execution implements Submittable {
  readonly name: string
  readonly text: string
  readonly values: unknown[]
  /** The client replaces it to stop the timer of the statement. */
  callback: (error: Error | null, rows?: unknown[]) => void
  readonly #connection: ClientBase
  readonly #rows: unknown[] = []
  #wire: Wire | undefined
  #columns: Columns | undefined
  #failure: Error | undefined

  constructor(
    connection: ClientBase,
    statement: PreparedStatement,
    values: unknown[],
    callback: Execution['callback'],
  ) {
    this.name = statement.name
    this.text = statement.text
    this.values = values
    this.#connection = connection
    this.callback = callback
  }

  submit(connection: unknown): void {
    const wire = connection as Wire
    const { name, text } = this
    this.#wire = wire
    this.#columns = knownColumns.get(wire)?.get(name)
    wire.stream.cork()
    try {
      if (wire.parsedStatements[name] === undefined) wire.parse({ name, text })
      wire.bind({ statement: name, values: this.values })
      if (this.#columns === undefined) wire.describe({ type: 'P' })
      wire.execute()
      wire.sync()
    } finally {
      wire.stream.uncork()
    }
  }

  handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }): void {
    const names = fields.map(({ name }) => name)
    const parsers = fields.map(
      ({ dataTypeID }) => this.#connection.getTypeParser(dataTypeID, 'text') as (text: string) => unknown,
    )
    this.#columns = { names, parsers, empty: Object.fromEntries(names.map((name) => [name, null])) }
    const wire = this.#wire!
    const known = knownColumns.get(wire) ?? new Map<string, Columns>()
    knownColumns.set(wire, known.set(this.name, this.#columns))
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const { names, parsers, empty } = this.#columns!
    const row = { ...empty }
    try {
      for (let index = 0; index < names.length; index++) {
        const text = fields[index]!
        if (text !== null) row[names[index]!] = parsers[index]!(text)
      }
      this.#rows.push(row)
    } catch (error) {
      this.#failure ??= error as Error
    }
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.callback(this.#failure ?? null, this.#rows)
  }

  handleError(error: Error): void {
    this.callback(error)
  }
}
