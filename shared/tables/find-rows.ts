import type { Context } from '../context.ts'
import { ApiError } from '../errors.ts'
import type { Database } from '../store/database.ts'
import { hasTrigrams } from '../store/extensions.ts'
import { findNearest, findPlaces, groupRows, readRows, withinTime, type FoundRow } from '../store/table-queries.ts'
import type { ColumnTypes } from './column-reference.ts'
import { compileFilter } from './filter.ts'
import { groupingOf } from './grouping.ts'
import { orderOf, type Direction } from './order.ts'
import { searchableFields, similarityOf, type SearchableColumns } from './search.ts'
import { selectionOf } from './selection.ts'
import { megabyte } from '../units.ts'

/** A query over the rows of a table. */
export interface RowsRequest {
  filter?: Record<string, unknown> | undefined
  group?: Record<string, unknown> | undefined
  search?: string | undefined
  select?: readonly string[] | undefined
  orderBy?: string | undefined
  orderDirection?: Direction | undefined
  limit: number
  offset: number
}

/** A table as far as reading its rows depends on it. */
export interface ReadTable {
  id: string
  columns: SearchableColumns
}

export type FoundTableRow = FoundRow & { similarity?: number }

interface Page<Row> {
  rows: Row[]
  hasMore: boolean
  warnings: string[]
}

/** Upper bound of the rows that one request groups. */
const maxGroupedRows = 100_000
/** Upper bound of the rows of one answer, as JSON. */
const maxAnswerBytes = 16 * megabyte

/**
 * Finds rows of a table.
 *
 * @param holdAnswer counts the bytes of the rows before they are read
 * @returns the rows, `hasMore` when there are further ones after these
 * @throws ApiError `InvalidQuery` when a name, an operator or a value does not fit the table, `LimitExceeded` when the
 *   rows are too large for one answer or the query takes too long
 */
export async function findRows(
  db: Database,
  table: ReadTable,
  request: RowsRequest,
  holdAnswer?: Context['holdAnswer'],
): Promise<Page<FoundTableRow>> {
  const { limit, offset, orderBy = 'id', orderDirection = 'asc' } = request
  const { columns, id: tableId } = table
  const warnings = aliasWarnings(columns, orderBy)
  const where = compileFilter(columns, request.filter ?? {})
  const order = orderOf(columns, orderBy, orderDirection)
  const selection = request.select && selectionOf(columns, request.select)
  const searched = request.search === undefined || request.search.trim() === '' ? undefined : request.search
  const fields = searched === undefined ? [] : searchableFields(columns)
  if (searched !== undefined && fields.length === 0) {
    warnings.push('`search` has no effect: no column of the table is searchable')
  }
  return withinTime(db, async (transaction) => {
    const query = { tableId, where, order, limit: limit + 1, offset }
    const found =
      searched === undefined || fields.length === 0
        ? await findPlaces(transaction, query)
        : await findNearest(transaction, {
            ...query,
            similarity: similarityOf(fields, searched, await hasTrigrams(transaction)),
          })
    const places = found.slice(0, limit)
    const bytes = places.reduce((sum, place) => sum + place.bytes, 0)
    assertAnswerable(bytes)
    holdAnswer?.(bytes)
    const rows = await readRows(
      transaction,
      tableId,
      places.map(({ id }) => id),
      selection?.data,
    )
    const similarities = new Map(places.map(({ id, similarity }) => [id, similarity]))
    return {
      rows: rows.map((row) => {
        const similarity = similarities.get(row.id)
        return {
          ...row,
          ...(selection && { data: selection.assemble(row.data as unknown as unknown[]) }),
          ...(similarity !== undefined && { similarity }),
        }
      }),
      hasMore: found.length > limit,
      warnings,
    }
  })
}

/**
 * Groups rows of a table. Each group is an object of the keys and aggregations that were asked for.
 *
 * @throws ApiError as `findRows`, and `LimitExceeded` when too many rows pass the filter
 */
export async function findGroups(
  db: Database,
  { id: tableId, columns }: ReadTable,
  request: RowsRequest & { group: Record<string, unknown> },
): Promise<Page<Record<string, unknown>>> {
  const { limit, offset } = request
  const warnings = (['search', 'select', 'orderBy'] as const)
    .filter((name) => request[name] !== undefined && request[name] !== 'id')
    .map((name) => `\`${name}\` has no effect beside \`group\`: groups are in the order of their keys`)
  const where = compileFilter(columns, request.filter ?? {})
  const query = { tableId, where, limit: limit + 1, offset, ...groupingOf(columns, request.group) }
  const { groups, rows } = await withinTime(db, (transaction) =>
    groupRows(transaction, { ...query, maxRows: maxGroupedRows }),
  )
  if (rows > maxGroupedRows) {
    throw new ApiError('LimitExceeded', `More than ${maxGroupedRows} rows are to be grouped: narrow them by a filter`)
  }
  return { rows: groups.slice(0, limit), hasMore: groups.length > limit, warnings }
}

function aliasWarnings(columns: ColumnTypes, orderBy: string): string[] {
  return orderBy === 'row_id' && !Object.hasOwn(columns, orderBy) ? ["`row_id` is taken as 'id'"] : []
}

function assertAnswerable(bytes: number): void {
  if (bytes <= maxAnswerBytes) return
  const megabytes = Math.ceil(bytes / megabyte)
  throw new ApiError(
    'LimitExceeded',
    `The rows of this answer have ${megabytes} MB, more than ${maxAnswerBytes / megabyte} MB: ask for fewer with 'limit'`,
  )
}
