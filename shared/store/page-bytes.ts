import type { Knex } from 'knex'
import { megabyte } from '../units.ts'
import type { Database } from './database.ts'

/**
 * A page ends before the row with which the JSON of its large columns would exceed this: a page of 100 rows could otherwise have
 * 100 MB. A row that is larger on its own is a page. Beside 160 pages of 4 MB that the code of another bot asked for at once, a
 * bot's reply took 23 to 49 s, beside 160 of 1 MB 2 to 3 s.
 */
export const maxPageBytes = megabyte

const uncountedBytes = 500

/** The columns that say where a page ends. */
export interface PageEnd {
  /** Of the large columns of the page up to this row, as JSON. */
  page_bytes: number
  /** Whether a row follows that was read and is not part of the page; null if none does. */
  is_followed: true | null
}

/** The columns of users and conversations that may be large. */
export const largeOfTagged = ['listed.tags', 'listed.properties']

/** The order of a page's rows, by names of their columns. */
export interface RowOrder {
  column?: string
  id?: string
  ascending?: boolean | undefined
}

/**
 * SQL for the rows of a page up to the bound of bytes. PostgreSQL does not send the rows after it, and does not read their large
 * values.
 *
 * @param rows SQL of the rows, in order and with a limit
 * @param large SQL of each column that may be large, which is `jsonb`; the rows have the name `listed`
 */
export function endedByBytes(
  rows: string,
  large: readonly string[],
  { column = 'created_at', id = 'id', ascending = false }: RowOrder = {},
): string {
  const direction = ascending ? 'asc' : 'desc'
  const order = `${column} ${direction}, ${id} ${direction}`
  const bytes = large.map((value) => `${sumOfBytes(value)} over so_far`).join(' + ')
  return `select * from (
      select listed.*, (${bytes})::integer as page_bytes, row_number() over so_far = 1 as is_first,
        lead(true) over so_far as is_followed
      from (${rows}) listed window so_far as (order by ${order} rows unbounded preceding)
    ) ended where page_bytes <= ${maxPageBytes} or is_first order by ${order}`
}

/**
 * SQL for the sum of the bytes of a value, to be followed by `over`. The stored size is known without reading the value, and that
 * of most is too small to matter. Compressed values, and numbers with an exponent, have many times as many bytes.
 */
export function sumOfBytes(value: string): string {
  const isCounted = `pg_column_size(${value}) > ${uncountedBytes} or pg_column_compression(${value}) is not null`
  return `page_bytes(case when ${isCounted} then ${value} end, ${maxPageBytes})`
}

/** Reads the rows of a page up to the bound of bytes; parameters as of `endedByBytes`. */
export async function readPage<Row>(
  db: Database,
  rows: Knex.QueryBuilder,
  large: readonly string[],
  order: RowOrder = {},
): Promise<(Row & PageEnd)[]> {
  const { rows: read } = (await db.raw(endedByBytes('?', large, order), [rows])) as { rows: (Row & PageEnd)[] }
  return read
}
