import { isDeepStrictEqual } from 'node:util'
import type { Column, Columns, ComputedState } from '../models/column.ts'
import { systemColumns } from '../models/table.ts'
import { invalidColumn } from './column.ts'

/** A computed column, as rows depend on it. */
export interface ComputedColumn {
  name: string
  field: string
  /** The source of its value. */
  action: string
  /** The names of the columns from which it is computed. */
  dependencies: readonly string[]
  /** Whether it is computed by itself after a change; otherwise its values stay stale. */
  isEnabled: boolean
}

/** The computed columns among the columns of a table. */
export function computedColumnsOf(columns: Columns): ComputedColumn[] {
  return Object.entries(columns).flatMap(([name, column]) => {
    const settings = settingsOf(column)
    if (!settings) return []
    const { action, dependencies, enabled } = settings
    return [
      {
        name,
        field: column.field,
        action: typeof action === 'string' ? action : 'code',
        dependencies: Array.isArray(dependencies) ? (dependencies as string[]) : [],
        isEnabled: enabled !== false,
      },
    ]
  })
}

function settingsOf(column: Column): Record<string, unknown> | undefined {
  return column['x-zui'].computed ?? undefined
}

/**
 * Checks the dependencies of computed columns.
 * @throws ApiError `InvalidJsonSchema` for one that is no column, and for columns that depend on one another
 */
export function assertDependencies(columns: Columns): void {
  const computed = new Map(computedColumnsOf(columns).map((column) => [column.name, column]))
  for (const { name, dependencies } of computed.values()) {
    const missing = dependencies.find((one) => !Object.hasOwn(columns, one) && !isSystemColumn(one))
    if (missing !== undefined) throw invalidColumn(name, `depends on '${missing.slice(0, 60)}', which is no column`)
  }
  const settled = new Set<string>()
  const visit = (name: string, path: string[]) => {
    if (path.includes(name)) throw invalidColumn(name, `depends on itself: ${[...path, name].join(' → ')}`)
    if (settled.has(name)) return
    for (const one of computed.get(name)?.dependencies ?? []) visit(one, [...path, name])
    settled.add(name)
  }
  for (const name of computed.keys()) visit(name, [])
}

function isSystemColumn(name: string): boolean {
  return (systemColumns as readonly string[]).includes(name)
}

/** The states of the computed values of a row, by field. */
export interface RowStates {
  stale: string[]
  computed: Record<string, ComputedState>
}

/** The states of the computed values of rows after writes of other columns. */
export class ComputedStates {
  readonly #computed: ComputedColumn[]
  readonly #columns: Columns

  constructor(columns: Columns) {
    this.#columns = columns
    this.#computed = computedColumnsOf(columns)
  }

  /** Whether the table has no computed columns, so that rows have no states. */
  get isEmpty(): boolean {
    return this.#computed.length === 0
  }

  /**
   * The states after a write. A value depends on others directly, or on computed ones that are stale themselves. A value
   * that a writer gives to a computed column is not stale.
   *
   * @param given names of the columns of the write
   * @param data of the row after it, by field
   * @param present the row before it; undefined for a new one
   */
  after(
    given: readonly string[],
    data: Record<string, unknown>,
    present?: RowStates & { data: Record<string, unknown> },
  ): RowStates {
    const changed = new Set(
      present
        ? given.filter((name) => {
            const field = this.#columns[name]?.field
            return field !== undefined && !isDeepStrictEqual(data[field], present.data[field])
          })
        : Object.keys(this.#columns),
    )
    const own = new Set(given)
    for (let size = -1; size !== changed.size;) {
      size = changed.size
      for (const { name, dependencies } of this.#computed) {
        if (!own.has(name) && dependencies.some((one) => changed.has(one))) changed.add(name)
      }
    }
    const stale = new Set(present?.stale)
    const computed = { ...present?.computed }
    for (const { name, field } of this.#computed) {
      if (own.has(name)) {
        stale.delete(field)
        delete computed[field]
      } else if (changed.has(name)) {
        stale.add(field)
        computed[field] = { status: 'pending' }
      }
    }
    return { stale: [...stale], computed }
  }
}

/** How the computed columns of a table differ after a change of its definition. */
export interface ComputedChange {
  /** Columns whose values are out of date in all rows. */
  stale: ComputedColumn[]
  /** Fields that are computed no more. */
  gone: string[]
}

/** Compares the computed columns of two definitions of one table. */
export function compareComputed(before: Columns, after: Columns): ComputedChange {
  const present = computedColumnsOf(after)
  const former = new Map(Object.values(before).map((column) => [column.field, column]))
  const isChanged = ({ name, field }: ComputedColumn) => {
    const old = former.get(field)
    return !old || !isDeepStrictEqual(settingsOf(old), settingsOf(after[name]!))
  }
  const stale = new Map(present.filter(isChanged).map((column) => [column.name, column]))
  for (let size = -1; size !== stale.size;) {
    size = stale.size
    for (const column of present) {
      if (column.dependencies.some((one) => stale.has(one))) stale.set(column.name, column)
    }
  }
  const fields = new Set(present.map(({ field }) => field))
  const gone = computedColumnsOf(before).flatMap(({ field }) => (fields.has(field) ? [] : [field]))
  return { stale: [...stale.values()], gone }
}

/** The definition's columns with the references to a renamed one. */
export function renameDependency(column: Column, name: string, newName: string): Column {
  const settings = settingsOf(column)
  if (!settings || !Array.isArray(settings['dependencies'])) return column
  const dependencies = (settings['dependencies'] as string[]).map((one) => (one === name ? newName : one))
  return { ...column, 'x-zui': { ...column['x-zui'], computed: { ...settings, dependencies } } }
}
