import { newId } from '#shared/ids.ts'
import type { ColumnTypes } from '#shared/tables/column-reference.ts'
import type { Database } from '#shared/store/database.ts'

/** Columns with the fields under which rows hold their values, which differ from the names. */
export function withFields<const Columns extends Record<string, object>>(
  columns: Columns,
): { [Name in keyof Columns]: Columns[Name] & { field: string } } {
  const all = Object.entries(columns).map(([name, column], index) => [name, { ...column, field: `c${index}` }])
  return Object.fromEntries(all) as { [Name in keyof Columns]: Columns[Name] & { field: string } }
}

/** Rows by names as the table holds them. */
export function toData(columns: ColumnTypes, rows: object[]): Record<string, unknown>[] {
  return rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [columns[name]!.field, value])),
  )
}

/** The data of a row by the names of its columns. */
export function toNames(columns: ColumnTypes, data: Record<string, unknown>): Record<string, unknown> {
  const names = new Map(Object.entries(columns).map(([name, { field }]) => [field, name]))
  return Object.fromEntries(Object.entries(data).map(([field, value]) => [names.get(field)!, value]))
}

/** Stores rows with the ids from 1, as a table of their own. */
export async function insertTable(db: Database, columns: ColumnTypes, rows: object[]): Promise<string> {
  const id = newId('table')
  const botId = newId('bot')
  await db.raw(
    `with workspace as (insert into workspaces (id, name) values (:botId, '') returning id),
       bot as (insert into bots (id, workspace_id, name) select :botId, id, '' from workspace returning id)
     insert into bot_tables (id, bot_id, name, columns, next_field) select :id, id, :id, :columns, 1 from bot`,
    { id, botId, columns: JSON.stringify(columns) },
  )
  await db.raw(
    `insert into table_rows (table_id, id, data, bytes)
     select ?, ordinality, value, octet_length(value::text) from jsonb_array_elements(?::jsonb) with ordinality`,
    [id, JSON.stringify(toData(columns, rows))],
  )
  return id
}
