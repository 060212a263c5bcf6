import { closedObject } from '../schema.ts'
import type { Knex } from 'knex'
import { ApiError } from '../errors.ts'
import type { PageEnd } from './page-bytes.ts'

/**
 * Keyset pagination, newest first unless requested otherwise. The next page begins after the last row's position:
 * `(created_at, id)`, or another time column in place of the former. Timestamps are `timestamptz(3)`, which a `Date`
 * holds exactly, so no row is lost between pages.
 */
export interface Cursor {
  createdAt: Date
  id: string
}

export interface PageRequest {
  limit: number
  after?: Cursor
  /** Oldest first. */
  ascending?: boolean
}

export interface Page<Row> {
  rows: Row[]
  /** The token of the next page; absent on the last one. */
  nextToken?: string
  /** Of the rows' large columns, as JSON; absent where no column is large. */
  bytes?: number
}

const defaultPageSize = 20
/** Rows of a page at most. */
export const maximumPageSize = 100

/** The pagination fields of a list operation's input. */
export const pageInput = {
  nextToken: { type: 'string', description: 'The `meta.nextToken` of the previous page.' },
  pageSize: { type: 'integer', minimum: 1, maximum: maximumPageSize, description: 'Rows of a page; default: 20.' },
} as const

/** The `meta` of a list operation's output: always present, empty on the last page. */
export const pageMeta = closedObject({}, { nextToken: { type: 'string' } })

/**
 * Reads a page request from an operation's input.
 * @throws ApiError `InvalidQuery` when the token is not one of the platform's
 */
export function pageRequest(input: { nextToken?: string; pageSize?: number }): PageRequest {
  const limit = pageSizeOf(input)
  return input.nextToken ? { limit, after: decodeCursor(input.nextToken) } : { limit }
}

/** The number of rows of a page. */
export function pageSizeOf({ pageSize = defaultPageSize }: { pageSize?: number }): number {
  return pageSize
}

/** Restricts and orders a query to one page. It fetches one row more, which shows whether another page follows. */
export function page(query: Knex.QueryBuilder, request: PageRequest, column = 'created_at', id = 'id'): void {
  const { after, ascending } = request
  if (after) query.whereRaw(`(??, ??) ${ascending ? '>' : '<'} (?, ?)`, [column, id, after.createdAt, after.id])
  const order = ascending ? 'asc' : 'desc'
  void query.orderBy([
    { column, order },
    { column: id, order },
  ])
  void query.limit(request.limit + 1)
}

/** Cuts the fetched rows to the page and makes the next page's token. A page that ends by its bytes has fewer rows. */
export function toPage<Row extends object>(
  fetched: Row[],
  request: PageRequest,
  cursorOf: (row: Row) => Cursor,
): Page<Row> {
  const rows = fetched.slice(0, request.limit)
  const last = rows.at(-1)
  if (!last) return { rows }
  const end: Partial<PageEnd> = last
  const isFollowed = fetched.length > request.limit || end.is_followed === true
  return {
    rows,
    ...(isFollowed && { nextToken: encodeCursor(cursorOf(last)) }),
    ...(end.page_bytes !== undefined && { bytes: end.page_bytes }),
  }
}

/** The `meta` object of an answer. */
export function toMeta(page: Page<unknown>): { nextToken?: string } {
  return page.nextToken ? { nextToken: page.nextToken } : {}
}

/** The token of the page after a position. */
export function encodeCursor({ createdAt, id }: Cursor): string {
  return Buffer.from(`${createdAt.getTime()} ${id}`).toString('base64url')
}

/** Imported messages may be from before 1970. */
function decodeCursor(token: string): Cursor {
  const [, milliseconds, id] = /^(-?\d{1,14}) (\w{1,100})$/.exec(Buffer.from(token, 'base64url').toString()) ?? []
  if (!milliseconds || !id) {
    throw new ApiError('InvalidQuery', 'nextToken is not a valid cursor: omit it to start at the first page')
  }
  return { createdAt: new Date(Number(milliseconds)), id }
}
