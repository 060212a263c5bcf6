import { ApiError } from '../errors.ts'
import { JsonList } from '../json/json-list.ts'
import type { TableRow } from '../models/table.ts'
import type { BotTableRow, TableRowRow } from '../models/tables.ts'
import { inStoredOrder } from '../rpc/stored-order.ts'
import { storableText } from '../models/storable.ts'
import type { RowToStore, StoredTimes } from '../store/table-rows.ts'
import { megabyte } from '../units.ts'
import { RowReader } from './row.ts'

/** The outcome of a write of rows. */
export interface WriteReport {
  inserted: JsonList<TableRow>
  updated: JsonList<TableRow>
  warnings?: string[]
  errors?: string[]
}

/** A checked row, and the row that it replaces. */
export interface Change extends RowToStore {
  /** The place of the given row, for problems. */
  path: string
  present?: TableRowRow | undefined
}

/** The rows of an answer, which is in memory whole: more than a body has, because rows have all columns. */
const maxAnswerBytes = 48 * megabyte
const noStates = { stale: [], computed: {} }

/** Collects the rows that one call writes, and the problems of the others. */
export class RowReport {
  readonly #table: BotTableRow
  readonly #reader: RowReader
  readonly #keepsRows: boolean
  readonly #holdAnswer: ((bytes: number) => void) | undefined
  readonly #isForRun: boolean
  readonly #inserted = new JsonList<TableRow>()
  readonly #updated = new JsonList<TableRow>()
  /** By the places of the given rows. */
  readonly #errors = new Map<string, string>()

  /** @param options as those of `RowWriter` */
  constructor(
    table: BotTableRow,
    {
      keepsRows = true,
      holdAnswer,
      isForRun = false,
    }: { keepsRows?: boolean; holdAnswer?: ((bytes: number) => void) | undefined; isForRun?: boolean },
  ) {
    this.#table = table
    this.#reader = new RowReader(table.columns)
    this.#keepsRows = keepsRows
    this.#holdAnswer = holdAnswer
    this.#isForRun = isForRun
  }

  /**
   * Keeps rows as they are stored. A row without times was not written, because another one has its key.
   *
   * @throws ApiError `LimitExceeded` when the answer gets too large
   */
  keep(changes: Change[], stored: StoredTimes[], as: 'inserted' | 'updated'): void {
    if (this.#bytes > maxAnswerBytes) {
      throw new ApiError(
        'LimitExceeded',
        `The rows of one call have more than ${maxAnswerBytes / megabyte} MB: write fewer at once`,
      )
    }
    const list = as === 'inserted' ? this.#inserted : this.#updated
    const times = new Map(stored.map((row) => [row.id, row]))
    for (const { id, data, path, present, states } of changes) {
      const row = times.get(id)
      const { stale, computed } = states ?? present ?? noStates
      if (!row) this.failKey(path)
      else if (this.#keepsRows) list.add(this.#inOrder(this.#reader.toRow({ ...row, data, stale, computed })))
    }
    this.#holdAnswer?.(this.#bytes)
  }

  /** The journal, which orders the other answers of runs, leaves the rows of a list as they are. */
  #inOrder(row: TableRow): TableRow {
    return this.#isForRun ? inStoredOrder(row) : row
  }

  /** Reports that a row was not written. @param problem begins with the path of the row */
  fail(path: string, problem: string): false {
    this.#errors.set(path, storableText(problem))
    return false
  }

  failKey(path: string): false {
    return this.fail(path, `${path}.${this.#table.key_column} has the key of another row`)
  }

  toAnswer(warnings: string[]): WriteReport {
    return {
      inserted: this.#inserted,
      updated: this.#updated,
      ...(warnings.length > 0 && { warnings }),
      ...(this.#errors.size > 0 && { errors: [...this.#errors.values()] }),
    }
  }

  get #bytes(): number {
    return this.#inserted.bytes + this.#updated.bytes
  }
}
