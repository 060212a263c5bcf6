import type { BotTableRow } from '../models/tables.ts'
import { query, type Database } from './database.ts'
import { readPage } from './page-bytes.ts'
import { page, toPage, type Page, type PageRequest } from './pagination.ts'

/** The columns of a table that a definition sets. */
export type NewBotTable = Pick<
  BotTableRow,
  | 'id'
  | 'name'
  | 'columns'
  | 'required'
  | 'next_field'
  | 'factor'
  | 'is_frozen'
  | 'key_column'
  | 'tags'
  | 'is_compute_enabled'
>

/**
 * Finds a table by its id or its name; no name has the form of an id.
 *
 * @param isLocked no other transaction changes the table or adds rows to it until this one ends
 */
export async function findTable(
  db: Database,
  botId: string,
  table: string,
  { isLocked = false } = {},
): Promise<BotTableRow | undefined> {
  const sql = `select * from bot_tables where bot_id = :botId and (id = :table or name = :table)`
  const [row] = await query<BotTableRow>(db, isLocked ? `${sql} for no key update` : sql, { botId, table })
  return row
}

/** One page of the tables of a bot, the oldest first. */
export async function pageOfTables(
  db: Database,
  botId: string,
  tags: Record<string, string>,
  request: PageRequest,
): Promise<Page<BotTableRow>> {
  const read = db('bot_tables')
    .where({ bot_id: botId })
    .whereRaw('tags @> ?::jsonb', [JSON.stringify(tags)])
    .modify((list) => page(list, { ...request, ascending: true }))
  const rows = await readPage<BotTableRow>(db, read, ['listed.columns', 'listed.tags'], { ascending: true })
  return toPage(rows, request, (row) => ({ createdAt: row.created_at, id: row.id }))
}

export async function namesOfTables(db: Database, botId: string): Promise<string[]> {
  return db('bot_tables').where({ bot_id: botId }).pluck('name')
}

/** Inserts a table; undefined when the bot has one of that name. */
export async function insertTable(db: Database, botId: string, table: NewBotTable): Promise<BotTableRow | undefined> {
  const [row] = await query<BotTableRow>(
    db,
    `insert into bot_tables (id, bot_id, name, columns, required, next_field, factor, is_frozen, key_column, tags,
       is_compute_enabled)
     values (:id, :botId, :name, :columns, :required::text[], :next_field, :factor, :is_frozen, :key_column, :tags,
       :is_compute_enabled)
     on conflict (bot_id, name) do nothing returning *`,
    { ...bindingsOf(table), botId },
  )
  return row
}

/** Replaces the definition of a table, which is locked. */
export async function updateTable(db: Database, table: NewBotTable): Promise<BotTableRow> {
  const [row] = await query<BotTableRow>(
    db,
    `update bot_tables set name = :name, columns = :columns, required = :required::text[], next_field = :next_field,
       factor = :factor, is_frozen = :is_frozen, key_column = :key_column, tags = :tags,
       is_compute_enabled = :is_compute_enabled, updated_at = now()
     where id = :id returning *`,
    bindingsOf(table),
  )
  return row!
}

function bindingsOf(table: NewBotTable) {
  const { id, name, next_field, factor, is_frozen, key_column, is_compute_enabled, required } = table
  return {
    id,
    name,
    next_field,
    factor,
    is_frozen,
    key_column,
    is_compute_enabled,
    required,
    columns: JSON.stringify(table.columns),
    tags: JSON.stringify(table.tags),
  }
}

export async function setNextRowId(db: Database, tableId: string, nextRowId: number): Promise<void> {
  await query(db, `update bot_tables set next_row_id = :nextRowId where id = :tableId`, { tableId, nextRowId })
}

/** Notes that rows of a table wait for computed values. */
export async function setRecomputeDue(db: Database, tableId: string): Promise<void> {
  await query(db, `update bot_tables set recompute_due_at = coalesce(recompute_due_at, now()) where id = :tableId`, {
    tableId,
  })
}

/**
 * Notes that no row of a table waits for computed values.
 * @param db a transaction that has locked the table
 */
export async function clearRecomputeDue(db: Database, tableId: string): Promise<void> {
  await query(db, `update bot_tables set recompute_due_at = null where id = :tableId`, { tableId })
}

/**
 * Notes which event computes values of a table; null when it has ended.
 * @param db a transaction that has locked the table
 */
export async function setRecomputeEvent(db: Database, tableId: string, eventId: string | null): Promise<void> {
  await query(db, `update bot_tables set recompute_event_id = :eventId where id = :tableId`, { tableId, eventId })
}

/** Tables whose rows have waited for computed values for this long. */
export function overdueRecomputes(
  db: Database,
  waitedMilliseconds: number,
  limit: number,
): Promise<Pick<BotTableRow, 'id' | 'bot_id'>[]> {
  return query(
    db,
    `select id, bot_id from bot_tables where recompute_due_at <= now() - :waitedMilliseconds * interval '1 millisecond'
     order by recompute_due_at limit :limit`,
    { waitedMilliseconds, limit },
  )
}

export async function deleteTable(db: Database, tableId: string): Promise<void> {
  await query(db, `delete from bot_tables where id = :tableId`, { tableId })
}

/** Rows whose computed values are out of date. */
export async function countStale(db: Database, tableId: string): Promise<number> {
  const [row] = await query<{ count: number }>(
    db,
    `select count(*)::integer as count from table_rows where table_id = :tableId and stale <> '{}'`,
    { tableId },
  )
  return row!.count
}

/**
 * The storage that the tables of a bot use. Until the transaction ends, others wait here, so that two of them cannot both use the
 * rest of a quota: it is asked for last.
 */
export async function tableUsage(db: Database, botId: string): Promise<{ tables: number; rows: number }> {
  await query(db, `select pg_advisory_xact_lock(hashtextextended('tables of ' || :botId::text, 0))`, { botId })
  const [usage] = await query<{ tables: number; rows: number }>(
    db,
    `select count(*)::integer as tables, coalesce(sum(row_count::bigint * factor), 0)::float8 as rows
     from bot_tables where bot_id = :botId`,
    { botId },
  )
  return usage!
}
