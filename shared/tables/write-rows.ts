import { ApiError } from '../errors.ts'
import { rowKilobytes } from '../models/table.ts'
import type { BotTableRow, TableRowRow } from '../models/tables.ts'
import { setNextRowId, setRecomputeDue } from '../store/bot-tables.ts'
import type { Database } from '../store/database.ts'
import {
  findTakenKeys,
  insertRows,
  matchKeys,
  matchValues,
  readRows,
  replaceRows,
  type RowToStore,
} from '../store/table-rows.ts'
import { RowChecker } from './check-row.ts'
import { ComputedStates } from './computed-columns.ts'
import { RowReport, type Change, type WriteReport } from './row-report.ts'
import { Turn } from './turn.ts'

type Given = Record<string, unknown>

/** A given row, and its place. */
interface Target {
  path: string
  given: Given
  /** The row to change; undefined for a row to insert. */
  id?: number | undefined
}

/** The largest id of a row: the counter, which is one ahead, has to be an integer of PostgreSQL too. */
export const maxRowId = 2_147_483_646

function isRowId(id: unknown): id is number {
  return Number.isInteger(id) && Number(id) >= 1 && Number(id) <= maxRowId
}

/** Rows of one statement, and the bytes that they may have at most: both are built and parsed in one turn. */
const chunkRows = 100
const chunkKilobytes = 1024
/** Processor time of the checks of one call. Only columns with costly patterns take as long. */
const maxCheckMilliseconds = 3000

/**
 * Writes rows of one table, whose row is locked: other writers of the table wait, so that ids, keys and matching values
 * stay as they were found. Rows that fail are reported; the others are written.
 */
export class RowWriter {
  readonly #db: Database
  readonly #table: BotTableRow
  readonly #checker: RowChecker
  readonly #pathOf: (index: number) => string
  readonly #states: ComputedStates
  readonly #report: RowReport
  readonly #turn = new Turn()
  readonly #keyField: string | null
  #nextId: number
  /** Of an upsert by id: the paths of inserted rows that carried none, by their new ids. */
  readonly #newIds = new Map<number, string>()
  #insertedCount = 0
  #hasStale = false
  #checkedMilliseconds = 0

  /**
   * @param options `pathOf` is the path of a given row in problems, by its place; without `keepsRows` the report has no
   *   rows; `holdAnswer` counts the bytes of those in the report; `isForRun` is true where a run's code gets them
   */
  constructor(
    db: Database,
    table: BotTableRow,
    options: {
      pathOf?: (index: number) => string
      keepsRows?: boolean
      holdAnswer?: ((bytes: number) => void) | undefined
      isForRun?: boolean
    } = {},
  ) {
    this.#pathOf = options.pathOf ?? ((index) => `rows.${index}`)
    this.#db = db
    this.#table = table
    this.#checker = new RowChecker(table)
    this.#report = new RowReport(table, options)
    this.#states = new ComputedStates(table.columns)
    this.#keyField = table.key_column === null ? null : table.columns[table.key_column]!.field
    this.#nextId = table.next_row_id
  }

  /** Rows that were inserted so far. */
  get insertedCount(): number {
    return this.#insertedCount
  }

  /** Whether computed values of rows that were written so far are out of date. */
  get hasStale(): boolean {
    return this.#hasStale
  }

  /** Creates rows. Ids that they carry are ignored. */
  async create(rows: Iterable<Given>): Promise<WriteReport> {
    for (const chunk of this.#chunks(rows)) await this.#write(chunk)
    return this.#finish()
  }

  /** Changes the given columns of rows, which carry their ids. */
  async update(rows: Iterable<Given>): Promise<WriteReport> {
    for (const chunk of this.#chunks(rows, ({ given }) => String(given['id']))) {
      await this.#write(chunk.map((target) => ({ ...target, id: target.given['id'] as number })))
    }
    return this.#finish()
  }

  /** Changes rows that are there, and inserts the others under their ids, or new ones. */
  async upsertById(rows: Iterable<Given>): Promise<WriteReport> {
    for (const chunk of this.#chunks(rows, ({ given, path }) => JSON.stringify(given['id'] ?? path))) {
      const isValid = ({ path, given: { id } }: Target) =>
        id === undefined ||
        id === null ||
        isRowId(id) ||
        this.#report.fail(path, `${path}.id must be a whole number from 1 to ${maxRowId}`)
      const targets = chunk
        .filter(isValid)
        .map((target) => ({ ...target, id: (target.given['id'] ?? undefined) as number | undefined }))
      await this.#write(targets, true)
    }
    return this.#finish()
  }

  /**
   * Changes the rows that have the same value in a column, and inserts the others.
   *
   * @param insertsWithoutValue whether a row without a value in the column is inserted, or fails
   */
  async upsertBy(column: string, rows: Iterable<Given>, insertsWithoutValue = false): Promise<WriteReport> {
    // One value may be written in several ways, as a time is.
    const identity = ({ given, path }: Target) => {
      const normalised = this.#checker.valueOf(column, given[column])
      return JSON.stringify(('value' in normalised ? normalised.value : undefined) ?? [path])
    }
    for (const chunk of this.#chunks(rows, identity)) {
      await this.#write(await this.#matched(column, chunk, insertsWithoutValue))
    }
    return this.#finish()
  }

  async #matched(column: string, chunk: Target[], insertsWithoutValue: boolean): Promise<Target[]> {
    const { field } = this.#table.columns[column]!
    const targets: { target: Target; value: unknown }[] = []
    const withoutValue: Target[] = []
    for (const target of chunk) {
      const normalised = this.#checker.valueOf(column, target.given[column])
      if ('problem' in normalised) this.#report.fail(target.path, `${target.path}.${column} ${normalised.problem}`)
      else if (normalised.value === null && insertsWithoutValue) withoutValue.push(target)
      else if (normalised.value === null)
        this.#report.fail(target.path, `${target.path}.${column} has no value, by which its row is found`)
      else targets.push({ target, value: normalised.value })
    }
    const values = targets.map(({ value }) => value)
    const { id: tableId } = this.#table
    const matches =
      field === this.#keyField
        ? await matchKeys(this.#db, tableId, values)
        : await matchValues(this.#db, tableId, field, values)
    const byPosition = Map.groupBy(matches, ({ position }) => position)
    const matched = targets.flatMap(({ target }, index) => {
      const [match, ...others] = byPosition.get(index + 1) ?? []
      if (others.length === 0) return [{ ...target, id: match?.id }]
      this.#report.fail(target.path, `${target.path}.${column} is the value of several rows: change them by id`)
      return []
    })
    return [...matched, ...withoutValue]
  }

  /**
   * Splits rows into chunks.
   *
   * @param identity of the row that a given one means: a chunk means no row twice, since its rows are found first
   */
  *#chunks(rows: Iterable<Given>, identity?: (target: Target) => string): Generator<Target[]> {
    const maxRows = Math.min(chunkRows, Math.ceil(chunkKilobytes / (this.#table.factor * rowKilobytes)))
    let chunk: Target[] = []
    let known = new Set<string>()
    let index = 0
    for (const given of rows) {
      const target = { path: this.#pathOf(index++), given }
      const id = identity?.(target)
      // Rows may be parsed as they are taken.
      const isLong = chunk.length === maxRows || this.#turn.isOver
      if (chunk.length > 0 && (isLong || (id !== undefined && known.has(id)))) {
        yield chunk
        chunk = []
        known = new Set()
      }
      chunk.push(target)
      if (id !== undefined) known.add(id)
    }
    if (chunk.length > 0) yield chunk
  }

  /** @param insertsMissing whether a row with an id is inserted where there is none */
  async #write(targets: Target[], insertsMissing = false): Promise<void> {
    await this.#turn.end()
    const ids = targets.flatMap(({ id }) => id ?? [])
    const found = ids.length === 0 ? [] : await readRows(this.#db, this.#table.id, ids)
    if (ids.length > 0) this.#turn.begin()
    const present = new Map(found.map((row) => [row.id, row]))
    const inserts: Change[] = []
    const replacements: Change[] = []
    for (const { path, given, id } of targets) {
      const row = id === undefined ? undefined : present.get(id)
      if (id !== undefined && !row && !insertsMissing) {
        this.#report.fail(path, `${path}: row ${id} not found`)
        continue
      }
      const namesake = insertsMissing && id !== undefined ? this.#newIds.get(id) : undefined
      if (namesake !== undefined) {
        this.#report.fail(path, `${path}: ${id} is the new id of ${namesake}: put rows with ids before those without`)
        continue
      }
      const checked = await this.#check(path, given, row?.data)
      if ('problem' in checked) this.#report.fail(path, checked.problem)
      else {
        const change = { ...checked, ...this.#statesAfter(Object.keys(given), checked.data, row), path }
        if (row) replacements.push({ ...change, id: row.id, present: row })
        else {
          const taken = this.#takeId(id)
          if (insertsMissing && id === undefined) this.#newIds.set(taken, path)
          inserts.push({ ...change, id: taken })
        }
      }
    }
    await this.#replace(replacements)
    await this.#insert(inserts)
  }

  #statesAfter(given: string[], data: Record<string, unknown>, present?: TableRowRow): Pick<RowToStore, 'states'> {
    if (this.#states.isEmpty) return {}
    const states = this.#states.after(given, data, present)
    this.#hasStale ||= states.stale.length > 0
    return { states }
  }

  #takeId(given: number | undefined): number {
    const id = given ?? this.#nextId
    if (id > maxRowId)
      throw new ApiError('LimitExceeded', `The ids of the table are used up: the last one is ${maxRowId}`)
    this.#nextId = Math.max(this.#nextId, id + 1)
    return id
  }

  async #check(path: string, given: Given, present?: Record<string, unknown>) {
    const start = process.threadCpuUsage()
    const checked = this.#checker.check(path, given, present)
    const { user, system } = process.threadCpuUsage(start)
    this.#checkedMilliseconds += (user + system) / 1000
    await this.#turn.end()
    if (this.#checkedMilliseconds <= maxCheckMilliseconds) return checked
    throw new ApiError('LimitExceeded', 'Checking the rows takes too long: simplify the patterns of the columns')
  }

  async #insert(changes: Change[]): Promise<void> {
    if (changes.length === 0) return
    const stored = await insertRows(this.#db, this.#table.id, this.#keyField, changes)
    this.#turn.begin()
    this.#insertedCount += stored.length
    this.#report.keep(changes, stored, 'inserted')
  }

  async #replace(changes: Change[]): Promise<void> {
    const free = await this.#withoutTakenKeys(changes)
    if (free.length === 0) return
    const stored = await replaceRows(this.#db, this.#table.id, this.#keyField, free)
    this.#turn.begin()
    this.#report.keep(free, stored, 'updated')
  }

  /** Leaves out changes to a key that another row has, or an earlier change takes. */
  async #withoutTakenKeys(changes: Change[]): Promise<Change[]> {
    const field = this.#keyField
    if (field === null) return changes
    const moving = changes.filter(({ data, present }) => data[field] !== present?.data[field])
    if (moving.length === 0) return changes
    const taken = new Set(await findTakenKeys(this.#db, this.#table.id, field, moving))
    const given = new Set<string>()
    for (const { id, data } of moving) {
      const key = JSON.stringify(data[field]) ?? ''
      if (key !== '' && given.has(key)) taken.add(id)
      given.add(key)
    }
    return changes.filter(({ id, path }) => !taken.has(id) || this.#report.failKey(path))
  }

  async #finish(): Promise<WriteReport> {
    const { id, next_row_id, is_compute_enabled } = this.#table
    if (this.#nextId !== next_row_id) await setNextRowId(this.#db, id, this.#nextId)
    if (this.#hasStale && is_compute_enabled) await setRecomputeDue(this.#db, id)
    return this.#report.toAnswer(this.#checker.warnings())
  }
}
