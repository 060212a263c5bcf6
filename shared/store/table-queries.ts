import { ApiError, postgresCode } from '../errors.ts'
import type { TableRowRow } from '../models/tables.ts'
import { slowly } from './connection-shares.ts'
import type { Database } from './database.ts'
import { run, sql, type Sql } from './sql.ts'
import type { RowRange } from './table-rows.ts'

/** A row of a table, or the selected part of it. */
export type FoundRow = Omit<TableRowRow, 'table_id' | 'key' | 'bytes'>

/** The place of a row in an answer. */
export interface FoundPlace {
  id: number
  /** Of its JSON. */
  bytes: number
  similarity?: number
}

/** A statement of a request may take this long. Statements of the platform itself take a hundredth. */
const maxMilliseconds = 5000

const tooSlow = 'narrow its filter, or simplify its pattern'

/**
 * Runs statements whose conditions a caller wrote, with a limit of time that PostgreSQL enforces, one at a time for each bot
 * (`slowly`). The plan is made for the values, since their statistics decide between the indexes (docs/decisions/0043).
 *
 * @param remedy for a statement that takes too long
 * @throws ApiError `LimitExceeded` when a statement takes too long, `InvalidQuery` when PostgreSQL refuses a pattern
 */
export async function withinTime<Result>(
  db: Database,
  work: (db: Database) => Promise<Result>,
  remedy = tooSlow,
): Promise<Result> {
  try {
    return await slowly(db, () =>
      db.transaction(async (transaction) => {
        await transaction.raw(
          `select set_config('statement_timeout', ?, true), set_config('plan_cache_mode', 'force_custom_plan', true),
                set_config('jit', 'off', true), set_config('work_mem', '16MB', true)`,
          [String(maxMilliseconds)],
        )
        return work(transaction)
      }),
    )
  } catch (error) {
    throw explained(error, remedy)
  }
}

function explained(error: unknown, remedy: string): unknown {
  switch (postgresCode(error)) {
    case '57014':
      return new ApiError('LimitExceeded', `The query takes more than ${maxMilliseconds / 1000} s: ${remedy}`, {
        cause: error,
      })
    case '2201B':
      return new ApiError('InvalidQuery', `The pattern of '$regex' cannot be used: ${reasonOf(error)}`, {
        cause: error,
      })
    default:
      return error
  }
}

/** The last part of `…: invalid regular expression: parentheses () not balanced`. */
function reasonOf(error: unknown): string {
  return (error as Error).message.split('invalid regular expression: ').at(-1)!
}

/** Rows of one table that pass a filter. */
export interface RowQuery {
  tableId: string
  /** A condition on `r`. */
  where: Sql
}

/** Finds which rows an answer consists of: without their data, so that wide rows need not be sorted. */
export function findPlaces(
  db: Database,
  { tableId, where, order, limit, offset }: RowQuery & { order: Sql; limit: number; offset: number },
): Promise<FoundPlace[]> {
  return run(
    db,
    sql`select r.id, r.bytes from table_rows r where r.table_id = ${tableId} and ${where}
      order by ${order} limit ${limit} offset ${offset}`,
  )
}

/** As `findPlaces`, with the nearness of each row to a text, the nearest first. */
export function findNearest(
  db: Database,
  query: RowQuery & { similarity: Sql; order: Sql; limit: number; offset: number },
): Promise<FoundPlace[]> {
  const { tableId, where, similarity, order, limit, offset } = query
  return run(
    db,
    sql`select r.id, r.bytes, r.similarity from (
        select r.*, ${similarity} as similarity from table_rows r where r.table_id = ${tableId} and ${where}
      ) r order by r.similarity desc, ${order} limit ${limit} offset ${offset}`,
  )
}

/** Reads rows in the order of their ids in the list. Those that are deleted meanwhile are absent. */
export async function readRows(
  db: Database,
  tableId: string,
  ids: number[],
  data: Sql = sql`r.data`,
): Promise<FoundRow[]> {
  if (ids.length === 0) return []
  const rows = await run<FoundRow>(
    db,
    sql`select r.id, ${data} as data, r.stale, r.computed, r.created_at, r.updated_at
      from table_rows r where r.table_id = ${tableId} and r.id = any(${ids.map(String)}::int[])`,
  )
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/** Groups rows into objects, and counts the rows that were grouped, up to one above `maxRows`. */
export async function groupRows(
  db: Database,
  query: RowQuery & {
    inner: Sql
    outer: Sql
    groupBy?: Sql | undefined
    orderBy?: Sql | undefined
    limit: number
    offset: number
    maxRows: number
  },
): Promise<{ groups: Record<string, unknown>[]; rows: number }> {
  const { tableId, where, inner, outer, groupBy, orderBy, limit, offset, maxRows } = query
  const found = await run<{ answer: Record<string, unknown>; rows: string }>(
    db,
    sql`select ${outer} as answer, sum(count(*)) over () as rows
      from (select ${inner} from table_rows r where r.table_id = ${tableId} and ${where} limit ${maxRows + 1}) picked
      ${groupBy ? sql`group by ${groupBy}` : sql``} ${orderBy ? sql`order by ${orderBy}` : sql``}
      limit ${limit} offset ${offset}`,
  )
  return { groups: found.map(({ answer }) => answer), rows: Number(found[0]?.rows ?? 0) }
}

/** Deletes at most so many of the rows that pass a filter. @returns how many */
export function deleteSomeRows(db: Database, { tableId, where }: RowQuery, limit: number): Promise<number> {
  return countDeleted(
    db,
    sql`delete from table_rows where table_id = ${tableId} and id in (
          select r.id from table_rows r where r.table_id = ${tableId} and ${where} limit ${limit}
        ) returning id`,
  )
}

/** Deletes the rows that pass a filter, of those with ids from a first to a last one. @returns how many */
export function deleteRowsBetween(
  db: Database,
  { tableId, where }: RowQuery,
  { first, last }: RowRange,
): Promise<number> {
  return countDeleted(
    db,
    sql`delete from table_rows r where r.table_id = ${tableId} and r.id between ${first} and ${last} and ${where}
        returning r.id`,
  )
}

async function countDeleted(db: Database, statement: Sql): Promise<number> {
  const [deleted] = await run<{ rows: number }>(
    db,
    sql`with gone as (${statement}) select count(*)::integer as rows from gone`,
  )
  return deleted!.rows
}
