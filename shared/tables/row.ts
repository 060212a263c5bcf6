import type { Columns } from '../models/column.ts'
import { inOrder, type TableRow } from '../models/table.ts'
import type { TableRowRow } from '../models/tables.ts'

/** A row as far as its answer depends on it. */
export type StoredRow = Pick<TableRowRow, 'id' | 'data' | 'stale' | 'computed' | 'created_at' | 'updated_at'> & {
  similarity?: number
}

/** Translates rows of one table from their fields to the names of its columns. */
export class RowReader {
  readonly #columns: [name: string, field: string][]
  readonly #names: Map<string, string>

  constructor(columns: Columns) {
    this.#columns = inOrder(columns).map(([name, { field }]) => [name, field])
    this.#names = new Map(this.#columns.map(([name, field]) => [field, name]))
  }

  /**
   * A row in answers.
   *
   * @param isSelection its data has only what the request selected; otherwise a column without a value is null
   */
  toRow(row: StoredRow, isSelection = false): TableRow {
    const { id, data, stale, computed, created_at, updated_at, similarity } = row
    const columns = isSelection ? this.#columns.filter(([, field]) => Object.hasOwn(data, field)) : this.#columns
    const staleColumns = stale.flatMap((field) => this.#names.get(field) ?? [])
    const values = Object.fromEntries(columns.map(([name, field]) => [name, data[field] ?? null]))
    return {
      id,
      createdAt: created_at.toISOString(),
      updatedAt: updated_at.toISOString(),
      computed: Object.fromEntries(
        Object.entries(computed).flatMap(([field, state]) => {
          const name = this.#names.get(field)
          return name === undefined ? [] : [[name, state]]
        }),
      ),
      ...(staleColumns.length > 0 && { stale: staleColumns }),
      ...(similarity !== undefined && { similarity }),
      ...values,
    }
  }
}
