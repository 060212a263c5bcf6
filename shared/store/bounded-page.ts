import type { Knex } from 'knex'
import type { Database } from './database.ts'
import { endedByBytes, type PageEnd } from './page-bytes.ts'
import { encodeCursor, page, toPage, type Page, type PageRequest } from './pagination.ts'

/**
 * Rows that a page of a list reads at most where no index serves its filter. A page with a filter that few rows pass may have
 * few rows, or none, and still a token: its time does not grow with the list.
 */
export const maxRead = 10_000

/** A list whose rows are read in order, and of which those are returned that pass a filter. */
export interface FilteredList {
  /** The table, whose columns `created_at` and `id` order the list. */
  table: string
  /** Each restricts a query to rows of the list, which an index has in order; no row is in two of them. */
  parts: ((rows: Knex.QueryBuilder) => void)[]
  /** Restricts a query, in which the rows that were read have the name of the table, to those that pass; may join and select. */
  passing: (rows: Knex.QueryBuilder) => void
  /** The columns that may be large, as of `endedByBytes`. */
  large?: readonly string[]
}

/**
 * One page of the rows that pass, newest first unless the request says otherwise.
 *
 * @param bound upper bound of the rows that are read
 */
export async function boundedPage<Row extends { created_at: Date; id: string }>(
  db: Database,
  { table, parts, passing, large }: FilteredList,
  request: PageRequest,
  bound = maxRead,
): Promise<Page<Row>> {
  const [time, id] = [`${table}.created_at`, `${table}.id`]
  const inOrder = (rows: Knex.QueryBuilder) => page(rows, { ...request, limit: bound - 1 }, time, id)
  const read = (columns: string[]) => {
    const [only, ...others] = parts.map((part) => db(table).select(columns).modify(part).modify(inOrder))
    if (others.length === 0) return only!
    const all = db.raw(`(${parts.map(() => '?').join(' union all ')}) as ??`, [only!, ...others, table])
    return db.from(all).select(columns).modify(inOrder)
  }
  // Rows before the page are not read.
  const { after: _after, ...first } = request
  const found = db
    .from(read([`${table}.*`]).as(table))
    .select(`${table}.*`)
    .modify(passing)
    .modify((rows) => page(rows, first, time, id))
  const last = db
    .from(read([time, id]).as('read'))
    .select('created_at as read_to', 'id as read_to_id')
    .whereRaw('(select count(*) from found) <= ?', [request.limit])
    .offset(bound - 1)
    .limit(1)
  const order = request.ascending ? 'asc' : 'desc'
  const { ascending } = request
  const shown = large ? endedByBytes('select * from found', large, { ascending }) : 'select * from found'
  type Line = Row & { read_to: Date | null; read_to_id: string | null }
  // One statement, so that both parts see the same rows. The second part is executed only when the page is not full.
  const lines: (Line | { [Column in keyof Line]: Line[Column] | null })[] = await db
    .withMaterialized('found', found)
    .with('shown', db.raw(shown))
    .from(db.raw('(select) as one'))
    .leftJoin(last.as('last'), db.raw('true'))
    .leftJoin('shown', db.raw('true'))
    .select('*')
    .orderBy([
      { column: 'shown.created_at', order },
      { column: 'shown.id', order },
    ])
  const rows = lines
    .filter((line): line is Line => line.id !== null)
    .map(({ read_to: _time, read_to_id: _id, ...row }) => row as unknown as Row)
  const end = lines[0]?.read_to
  const isCut = (rows.at(-1) as Partial<PageEnd> | undefined)?.is_followed === true
  if (rows.length <= request.limit && !isCut && end) {
    return { rows, nextToken: encodeCursor({ createdAt: end, id: lines[0]!.read_to_id! }) }
  }
  return toPage(rows, request, (row) => ({ createdAt: row.created_at, id: row.id }))
}
