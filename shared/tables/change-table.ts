import { ApiError, postgresCode, uniqueViolation } from '../errors.ts'
import type { BotTableRow } from '../models/tables.ts'
import { setRecomputeDue, updateTable, type NewBotTable } from '../store/bot-tables.ts'
import type { Database } from '../store/database.ts'
import { setKeys, setStates } from '../store/table-rows.ts'
import { assertKeyColumn, definitionOf, nameTaken, toStoredDefinition } from './bot-table.ts'
import { compareComputed } from './computed-columns.ts'
import { changeDefinition, isSameDefinition } from './definition.ts'

/** Changes of a table; what is absent stays. */
export interface TableChange {
  name?: string | undefined
  schema?: Record<string, unknown> | undefined
  frozen?: boolean | undefined
  keyColumn?: string | null | undefined
  tags?: Record<string, string | null> | undefined
  isComputeEnabled?: boolean | undefined
  factor?: number | undefined
}

export interface ChangedTable {
  table: BotTableRow
  /** Computed columns whose values are out of date in all rows. */
  staleColumns: string[]
}

/**
 * Changes a table, which is locked.
 *
 * @throws ApiError `RelationConflict` when the table is frozen or the factor would shrink, `AlreadyExists` when another
 *   table has the name or several rows would have one key
 */
export async function changeTable(db: Database, row: BotTableRow, change: TableChange): Promise<ChangedTable> {
  const before = definitionOf(row)
  const definition = change.schema ? changeDefinition(before, change.schema) : before
  const { name = row.name, factor = row.factor, frozen = row.is_frozen } = change
  if (name !== row.name || !frozen || !isSameDefinition(definition, before)) assertNotFrozen(row)
  if (factor < row.factor) {
    throw new ApiError('RelationConflict', `The factor of a table can only grow: it is ${row.factor}`)
  }
  const keyColumn = keyColumnAfter(row, definition.columns, change.keyColumn)
  if (keyColumn !== null) assertKeyColumn(definition, keyColumn)
  const changed: NewBotTable = {
    ...row,
    ...toStoredDefinition(definition),
    name,
    factor,
    is_frozen: frozen,
    key_column: keyColumn,
    tags: mergedTags(row.tags, change.tags ?? {}),
    is_compute_enabled: change.isComputeEnabled ?? row.is_compute_enabled,
  }
  try {
    const stored = await updateTable(db, changed)
    const keyField = keyFieldOf(stored)
    if (keyField !== null && keyField !== keyFieldOf(row)) await setKeys(db, stored.id, keyField)
    return { table: stored, staleColumns: await changeStates(db, row, stored) }
  } catch (error) {
    if (postgresCode(error) !== uniqueViolation) throw error
    if ((error as { constraint?: string }).constraint === 'bot_tables_bot_id_name_key') throw nameTaken(name)
    throw new ApiError('AlreadyExists', `keyColumn: several rows have the same value in '${keyColumn}'`, {
      cause: error,
    })
  }
}

/**
 * Marks the values of computed columns that are out of date after a change of the table.
 * @returns the names of these columns
 */
async function changeStates(db: Database, before: BotTableRow, after: BotTableRow): Promise<string[]> {
  const { stale, gone } = compareComputed(before.columns, after.columns)
  if (stale.length + gone.length > 0) {
    await setStates(db, after.id, { stale: stale.map(({ field }) => field), gone })
  }
  const isTurnedOn = after.is_compute_enabled && !before.is_compute_enabled
  if ((stale.length > 0 && after.is_compute_enabled) || isTurnedOn) await setRecomputeDue(db, after.id)
  return stale.map(({ name }) => name)
}

function keyFieldOf({ columns, key_column }: BotTableRow): string | null {
  return key_column === null ? null : columns[key_column]!.field
}

/** @throws ApiError `RelationConflict` for a frozen table */
export function assertNotFrozen({ is_frozen, name }: BotTableRow): void {
  if (!is_frozen) return
  throw new ApiError('RelationConflict', `The table '${name}' is frozen: its name and columns never change`)
}

/** A removed column is no key any more. */
function keyColumnAfter(
  row: BotTableRow,
  columns: Readonly<Record<string, unknown>>,
  given: string | null | undefined,
): string | null {
  if (given !== undefined) return given
  return row.key_column !== null && Object.hasOwn(columns, row.key_column) ? row.key_column : null
}

function mergedTags(tags: Record<string, string>, change: Record<string, string | null>): Record<string, string> {
  const merged = Object.entries({ ...tags, ...change })
  return Object.fromEntries(merged.filter((entry): entry is [string, string] => entry[1] !== null))
}
