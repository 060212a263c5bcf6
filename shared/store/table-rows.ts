import { exponentDigits } from '../json/exponents.ts'
import type { TableRowRow } from '../models/tables.ts'
import { query, type Database } from './database.ts'

/** A row to store. */
export interface RowToStore {
  id: number
  /** By field. */
  data: Record<string, unknown>
  /** The JSON of `data`. */
  text: string
  /** The states of its computed values; absent where they stay. */
  states?: Pick<TableRowRow, 'stale' | 'computed'>
}

export type StoredTimes = Pick<TableRowRow, 'id' | 'created_at' | 'updated_at'>

/** Longer values are hashed, since an index holds no long texts. */
const maxKeyBytes = 200

/**
 * SQL for the key of a row: its value in the key column as a text of bounded length; null without a key column or
 * value.
 *
 * @param value SQL for the value as `jsonb`
 */
function keyOf(value: string): string {
  const text = `(${value} #>> '{}')`
  return `case when jsonb_typeof(${value}) in ('string', 'number', 'boolean') then
    case when octet_length(${text}) <= ${maxKeyBytes} then '=' || ${text}
      else '#' || encode(sha256(convert_to(${text}, 'UTF8')), 'hex') end
  end`
}

const given = `jsonb_to_recordset(:rows::jsonb)
  as given (id integer, bytes integer, data jsonb, stale text[], computed jsonb)`

function toGiven(rows: RowToStore[]): string {
  const texts = rows.map(({ id, text, states }) => {
    const others = states
      ? `,"stale":${JSON.stringify(states.stale)},"computed":${JSON.stringify(states.computed)}`
      : ''
    return `{"id":${id},"bytes":${Buffer.byteLength(text) + exponentDigits(text)},"data":${text}${others}}`
  })
  return `[${texts.join(',')}]`
}

/**
 * Inserts rows.
 *
 * @param keyField the field of the key column
 * @returns the inserted rows: absent are those whose key another row has
 */
export function insertRows(
  db: Database,
  tableId: string,
  keyField: string | null,
  rows: RowToStore[],
): Promise<StoredTimes[]> {
  return query(
    db,
    `insert into table_rows (table_id, id, data, key, bytes, stale, computed)
     select :tableId, given.id, given.data, ${keyOf('(given.data -> :keyField::text)')}, given.bytes,
       coalesce(given.stale, '{}'), coalesce(given.computed, '{}') from ${given}
     on conflict (table_id, key) where key is not null do nothing
     returning id, created_at, updated_at`,
    { tableId, keyField, rows: toGiven(rows) },
  )
}

/** Replaces the data of rows, whose keys no other rows have. */
export function replaceRows(
  db: Database,
  tableId: string,
  keyField: string | null,
  rows: RowToStore[],
): Promise<StoredTimes[]> {
  return query(
    db,
    `update table_rows set data = given.data, key = ${keyOf('(given.data -> :keyField::text)')}, bytes = given.bytes,
       stale = coalesce(given.stale, table_rows.stale), computed = coalesce(given.computed, table_rows.computed),
       updated_at = now()
     from ${given}
     where table_rows.table_id = :tableId and table_rows.id = given.id
     returning table_rows.id, created_at, updated_at`,
    { tableId, keyField, rows: toGiven(rows) },
  )
}

/** The ids of given rows whose key another row has. */
export async function findTakenKeys(
  db: Database,
  tableId: string,
  keyField: string,
  rows: RowToStore[],
): Promise<number[]> {
  const taken = await query<{ id: number }>(
    db,
    `select given.id from ${given}
     join table_rows on table_rows.table_id = :tableId
       and table_rows.key = ${keyOf('(given.data -> :keyField::text)')} and table_rows.id <> given.id`,
    { tableId, keyField, rows: toGiven(rows) },
  )
  return taken.map(({ id }) => id)
}

/** A position in a list of values, and a row that has the value there. */
interface Match {
  position: number
  id: number
}

/** Finds the rows that have values in the key column, by its index. */
export function matchKeys(db: Database, tableId: string, values: unknown[]): Promise<Match[]> {
  return query(
    db,
    `select position::integer as position, table_rows.id
     from jsonb_array_elements(:values::jsonb) with ordinality as given (value, position)
     join table_rows on table_rows.table_id = :tableId and table_rows.key = ${keyOf('given.value')}`,
    { tableId, values: JSON.stringify(values) },
  )
}

/** Finds the rows that have values in a field, at most two of each. */
export function matchValues(db: Database, tableId: string, field: string, values: unknown[]): Promise<Match[]> {
  return query(
    db,
    `select position::integer as position, matching.id
     from jsonb_array_elements(:values::jsonb) with ordinality as given (value, position)
     cross join lateral (
       select table_rows.id from table_rows
       where table_rows.table_id = :tableId
         and table_rows.data @> jsonb_build_object(:field::text, given.value) limit 2
     ) matching`,
    { tableId, field, values: JSON.stringify(values) },
  )
}

/** Reads rows by id, in the order of the ids. */
export function readRows(db: Database, tableId: string, ids: number[]): Promise<TableRowRow[]> {
  return query(db, `select * from table_rows where table_id = :tableId and id = any(:ids::integer[]) order by id`, {
    tableId,
    ids: ids.map(String),
  })
}

export async function deleteRows(db: Database, tableId: string, ids: number[]): Promise<number> {
  const deleted = await query(
    db,
    `delete from table_rows where table_id = :tableId and id = any(:ids::integer[]) returning id`,
    { tableId, ids: ids.map(String) },
  )
  return deleted.length
}

/** Rows of one statement over a whole table, which takes some 100 ms. */
const batchSize = 5000

/** Deletes all rows of a table, which is locked or deleted next. */
export async function deleteAllRows(db: Database, tableId: string): Promise<number> {
  return inBatches(db, tableId, `delete from table_rows where table_id = :tableId and id between :first and :last`)
}

/** Copies all rows of a table, which is locked, to another one. */
export async function copyRows(db: Database, tableId: string, to: string): Promise<number> {
  return inBatches(
    db,
    tableId,
    `insert into table_rows (table_id, id, data, key, bytes, stale, computed, created_at)
     select :to, id, data, key, bytes, stale, computed, created_at
     from table_rows where table_id = :tableId and id between :first and :last`,
    { to },
  )
}

/**
 * Sets the keys of all rows of a table, which is locked.
 *
 * @throws a violation of uniqueness when several rows have the same value
 */
export async function setKeys(db: Database, tableId: string, keyField: string): Promise<void> {
  const ofBatch = `table_id = :tableId and id between :first and :last`
  // Keys of a former key column stay with their rows.
  await inBatches(db, tableId, `update table_rows set key = null where ${ofBatch} and key is not null`)
  const set = `update table_rows set key = ${keyOf('(data -> :keyField::text)')} where ${ofBatch}`
  await inBatches(db, tableId, set, { keyField })
}

/**
 * Changes the states of the computed values of all rows of a table, which is locked.
 *
 * @param stale fields whose values are out of date now
 * @param gone fields that are computed no more
 */
export async function setStates(
  db: Database,
  tableId: string,
  { stale, gone }: { stale: string[]; gone: string[] },
): Promise<void> {
  const pending = Object.fromEntries(stale.map((field) => [field, { status: 'pending' }]))
  await inBatches(
    db,
    tableId,
    `update table_rows set
       stale = array(select unnest(stale) union select unnest(:stale::text[]) except select unnest(:gone::text[])),
       computed = (computed - :gone::text[]) || :pending::jsonb
     where table_id = :tableId and id between :first and :last`,
    { stale, gone, pending: JSON.stringify(pending) },
  )
}

/** Rows of a table of which any of the fields is stale, in the order of the ids. */
export function readStaleRows(db: Database, tableId: string, fields: string[], limit: number): Promise<TableRowRow[]> {
  return query(
    db,
    `select * from table_rows where table_id = :tableId and stale <> '{}' and stale && :fields::text[]
     order by id limit :limit`,
    { tableId, fields, limit },
  )
}

async function inBatches(
  db: Database,
  tableId: string,
  sql: string,
  bindings: Record<string, string | string[]> = {},
): Promise<number> {
  let count = 0
  for await (const { first, last, rows } of rangesOf(db, tableId)) {
    await query(db, sql, { ...bindings, tableId, first, last })
    count += rows
  }
  return count
}

/** Ids of consecutive rows, from a first to a last one. */
export interface RowRange {
  first: number
  last: number
}

/** Ranges of the rows of a table, each for one statement. They stay disjoint when a caller deletes the rows of a range. */
export async function* rangesOf(db: Database, tableId: string): AsyncGenerator<RowRange & { rows: number }> {
  for (let first = 1; ;) {
    const [batch] = await query<{ last: number | null; rows: number }>(
      db,
      `select max(id) as last, count(*)::integer as rows from (
         select id from table_rows where table_id = :tableId and id >= :first order by id limit ${batchSize}
       ) batch`,
      { tableId, first },
    )
    const { last, rows } = batch!
    if (last === null) return
    yield { first, last, rows }
    first = last + 1
  }
}

/** Reads the rows after an id, in the order of the ids. */
export function readNextRows(db: Database, tableId: string, after: number, limit: number): Promise<TableRowRow[]> {
  return query(db, `select * from table_rows where table_id = :tableId and id > :after order by id limit :limit`, {
    tableId,
    after,
    limit,
  })
}
