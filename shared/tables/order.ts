import { ApiError } from '../errors.ts'
import { joined, sql, type Sql } from '../store/sql.ts'
import {
  asBoolean,
  asNumber,
  asText,
  findReference,
  shortened,
  type ColumnTypes,
  type Reference,
} from './column-reference.ts'

export type Direction = 'asc' | 'desc'

/**
 * The order of rows by a column's type, and by id among equals, so that pages by offset neither repeat nor omit a row.
 * Rows without a value come last.
 *
 * @throws ApiError `InvalidQuery` when no column has the name, or its type has no order
 */
export function orderOf(columns: ColumnTypes, orderBy: string, direction: Direction): Sql {
  const reference = findReference(columns, orderBy)
  const way = direction === 'asc' ? sql`asc` : sql`desc`
  if (reference.isSystem && reference.name === 'id') return sql`r.id ${way}`
  const keys = sortKeys(reference).map((key) => sql`${key} ${way} nulls last`)
  return sql`${joined(keys, ', ')}, r.id ${way}`
}

/** Expressions by which the values of a column are in the order of its type; null where there is no value. */
export function sortKeys(reference: Reference): Sql[] {
  if (reference.isSystem) return [reference.column]
  switch (reference.kind) {
    case 'number':
      return [asNumber(reference)]
    case 'boolean':
      return [asBoolean(reference)]
    case 'string':
    case 'time':
      return [asText(reference)]
    case 'any':
      return [asNumber(reference), asText(reference), asBoolean(reference)]
    default:
      throw new ApiError(
        'InvalidQuery',
        `'${shortened(reference.name)}' holds an ${reference.kind}, by which rows have no order`,
      )
  }
}
