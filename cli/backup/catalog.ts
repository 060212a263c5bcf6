import { escapeIdentifier, type ClientBase } from 'pg'
import type { BackupTable } from './format.ts'

/** Settings of a transaction by which rows are written and read the same way on every server, however long it takes. */
export const transactionSettings = [
  "timezone = 'UTC'",
  "datestyle = 'ISO'",
  "bytea_output = 'hex'",
  'extra_float_digits = 1',
  'statement_timeout = 0',
  'lock_timeout = 0',
  'idle_in_transaction_session_timeout = 0',
]
  .map((setting) => `set local ${setting}`)
  .join('; ')

/** The tables of the schema that a session uses, except those of extensions. */
const ownTables = `
  select pg_class.oid, relname from pg_class
  where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
    and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e')`

/** The names of all tables in the database. */
export async function listAllTables(client: ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ relname: string }>(`${ownTables} order by relname`)
  return rows.map(({ relname }) => relname)
}

/**
 * The tables that a backup has, with the columns that are stored. It has no unlogged table, whose rows are of processes that
 * run, and not the list of migrations, which the restoration makes by running them.
 */
export async function listTables(client: ClientBase): Promise<BackupTable[]> {
  const { rows } = await client.query<BackupTable>(
    `select relname as "table", array_agg(attname::text order by attnum) as columns,
       array_agg(format_type(atttypid, null) order by attnum) as types
     from (${ownTables} and relpersistence = 'p' and relname not like 'knex%') own
     join pg_attribute on attrelid = own.oid and attnum > 0 and not attisdropped and attgenerated = ''
     group by relname order by relname`,
  )
  return rows
}

/** The columns whose numbers the database gives, with the last number of each. */
export async function readNumbers(client: ClientBase): Promise<{ table: string; column: string; last: string }[]> {
  const { rows } = await client.query<{ table: string; column: string; sequence: string }>(
    `select relname as "table", attname as "column", pg_get_serial_sequence(own.oid::regclass::text, attname) as sequence
     from (${ownTables} and relpersistence = 'p' and relname not like 'knex%') own
     join pg_attribute on attrelid = own.oid and attnum > 0 and not attisdropped
     where pg_get_serial_sequence(own.oid::regclass::text, attname) is not null
     order by 1, 2`,
  )
  const numbers = []
  for (const { table, column, sequence } of rows) {
    const { rows: found } = await client.query<{ last: string; is_called: boolean }>(
      `select last_value::text as last, is_called from ${sequence}`,
    )
    if (found[0]!.is_called) numbers.push({ table, column, last: found[0]!.last })
  }
  return numbers
}

/** The names of the migrations that have run, in their order; empty for a database without Isobot's tables. */
export async function readMigrations(client: ClientBase): Promise<string[]> {
  const { rows: found } = await client.query<{ table: string | null }>(
    `select to_regclass('knex_migrations')::text as "table"`,
  )
  if (found[0]!.table === null) return []
  const { rows } = await client.query<{ name: string }>('select name from knex_migrations order by id')
  return rows.map(({ name }) => name)
}

/**
 * Removes what would check, count or index each single row of a restoration: foreign keys, which hold only when all
 * tables are filled; constraints that older rows need not satisfy; triggers, whose results are rows of the backup;
 * and indexes, which are built faster at once.
 *
 * @returns the statements that make all of it again
 */
export async function suspendChecks(client: ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ suspend: string; resume: string }>(
    `select suspend, resume from (
       select 1 as rank, format('alter table %s drop constraint %I', conrelid::regclass, conname) as suspend,
         format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(pg_constraint.oid))
           as resume
       from pg_constraint join (${ownTables}) own on own.oid = conrelid
       where contype = 'f' or (contype = 'c' and not convalidated)
       union all
       select 2, format('drop index %s', indexrelid::regclass), pg_get_indexdef(indexrelid)
       from pg_index join (${ownTables}) own on own.oid = indrelid
       where not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u', 'x'))
       union all
       select 3, format('alter table %s disable trigger user', own.oid::regclass),
         format('alter table %s enable trigger user', own.oid::regclass)
       from (${ownTables}) own
     ) checks order by rank`,
  )
  for (const { suspend } of rows) await client.query(suspend)
  // A foreign key may need an index.
  return rows.map(({ resume }) => resume).toReversed()
}

/** The part of a COPY statement that names a table and its columns. */
export function copyTarget({ table, columns }: BackupTable): string {
  return `${escapeIdentifier(table)} (${columns.map((column) => escapeIdentifier(column)).join(', ')})`
}
