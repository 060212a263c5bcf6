import { ApiError } from '../errors.ts'
import { joined, sql, type Sql } from '../store/sql.ts'
import { findReference, shortened, type ColumnTypes, type Reference } from './column-reference.ts'
import { compares, equals, exists, hasSize, isAnyOf, isObject, leavesRemainder, matches } from './conditions.ts'

/** Bounds of one filter. */
export const filterBounds = { conditions: 100, depth: 10, values: 1000, bytes: 256 * 1024 } as const

/**
 * Compiles a filter of a request into the condition of a statement on `table_rows r`. The types of the columns decide
 * how values compare, never their order as JSON; names and values become bindings (docs/decisions/0043).
 *
 * @param columns of the table
 * @param filter as the caller sent it
 * @throws ApiError `InvalidQuery` that names the column or operator at fault
 */
export function compileFilter(columns: ColumnTypes, filter: unknown): Sql {
  return new Compilation(columns).filter(filter, 1)
}

const logical = ['$and', '$or', '$not'] as const
const operators = '$eq $ne $gt $gte $lt $lte $in $nin $exists $regex $options $mod $size $not'.split(' ')

/** Compiles one filter, and counts what it uses. */
class Compilation {
  readonly #columns: ColumnTypes
  #conditions = 0
  #bytes = 0

  constructor(columns: ColumnTypes) {
    this.#columns = columns
  }

  filter(filter: unknown, depth: number): Sql {
    assertDepth(depth)
    if (!isObject(filter)) {
      throw new ApiError('InvalidQuery', 'A filter must be an object, such as { "name": { "$eq": "Ann" } }')
    }
    const parts = Object.entries(filter).map(([key, value]) => {
      const isColumn = Object.hasOwn(this.#columns, key)
      if (key.startsWith('$') && !isColumn) return this.#logical(key, value, depth)
      return this.#column(key, value, depth)
    })
    return all(parts)
  }

  #logical(operator: string, value: unknown, depth: number): Sql {
    if (operator === '$not') return sql`(not ${this.filter(value, depth + 1)})`
    if (operator !== '$and' && operator !== '$or') throw unknownOperator(operator, logical)
    if (!Array.isArray(value) || value.length === 0) {
      throw new ApiError('InvalidQuery', `'${operator}' takes an array of at least one filter`)
    }
    if (value.length > filterBounds.conditions) throw tooManyConditions()
    const parts = value.map((filter: unknown) => this.filter(filter, depth + 1))
    return operator === '$and' ? all(parts) : sql`(${joined(parts, ' or ')})`
  }

  #column(name: string, value: unknown, depth: number): Sql {
    const reference = findReference(this.#columns, name)
    if (isObject(value) && Object.keys(value).some((key) => key.startsWith('$'))) {
      return this.#operators(reference, value, depth)
    }
    if (isObject(value) && reference.kind !== 'object' && reference.kind !== 'any') {
      const [first] = Object.keys(value)
      if (first !== undefined && operators.includes(`$${first}`)) throw unknownOperator(first, operators)
      if (reference.kind !== 'array') {
        throw new ApiError('InvalidQuery', `The condition of '${shortened(name)}' needs an operator, such as '$eq'`)
      }
    }
    this.#count(value)
    return equals(reference, '$eq', value)
  }

  #operators(reference: Reference, given: Record<string, unknown>, depth: number): Sql {
    const { $options: options, ...conditions } = given
    if (options !== undefined && !Object.hasOwn(conditions, '$regex')) {
      throw new ApiError('InvalidQuery', `'$options' of '${shortened(reference.name)}' belongs beside a '$regex'`)
    }
    const parts = Object.entries(conditions).map(([operator, value]) => {
      if (operator === '$not') return this.#negated(reference, value, depth + 1)
      this.#count(value)
      return condition(reference, operator, value, options)
    })
    return all(parts)
  }

  #negated(reference: Reference, value: unknown, depth: number): Sql {
    assertDepth(depth)
    if (!isObject(value) || !Object.keys(value).some((key) => key.startsWith('$'))) {
      throw new ApiError(
        'InvalidQuery',
        `'$not' of '${shortened(reference.name)}' takes operators, such as { "$gt": 5 }`,
      )
    }
    return sql`(not ${this.#operators(reference, value, depth)})`
  }

  #count(value: unknown): void {
    this.#conditions += 1
    if (this.#conditions > filterBounds.conditions) throw tooManyConditions()
    if (Array.isArray(value) && value.length > filterBounds.values) {
      throw new ApiError(
        'InvalidQuery',
        `A list of the filter has ${value.length} values: at most ${filterBounds.values} are allowed`,
      )
    }
    this.#bytes += Buffer.byteLength(JSON.stringify(value) ?? '')
    if (this.#bytes > filterBounds.bytes) {
      throw new ApiError('InvalidQuery', `The values of the filter exceed ${filterBounds.bytes / 1024} KB`)
    }
  }
}

function condition(reference: Reference, operator: string, value: unknown, options: unknown): Sql {
  switch (operator) {
    case '$eq':
      return equals(reference, operator, value)
    case '$ne':
      return sql`(not ${equals(reference, operator, value)})`
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      return compares(reference, operator, value)
    case '$in':
      return isAnyOf(reference, operator, listOf(reference, operator, value))
    case '$nin':
      return sql`(not ${isAnyOf(reference, operator, listOf(reference, operator, value))})`
    case '$exists':
      return exists(reference, value)
    case '$regex':
      return matches(reference, value, options)
    case '$mod':
      return leavesRemainder(reference, value)
    case '$size':
      return hasSize(reference, value)
    default:
      throw unknownOperator(operator, operators)
  }
}

function listOf({ name }: Reference, operator: string, value: unknown): unknown[] {
  if (Array.isArray(value)) return value
  throw new ApiError('InvalidQuery', `'${operator}' of '${shortened(name)}' takes an array of values`)
}

function all(parts: Sql[]): Sql {
  if (parts.length === 0) return sql`true`
  return sql`(${joined(parts, ' and ')})`
}

function assertDepth(depth: number): void {
  if (depth <= filterBounds.depth) return
  throw new ApiError('InvalidQuery', `The filter is nested more than ${filterBounds.depth} deep`)
}

function tooManyConditions(): ApiError {
  return new ApiError('InvalidQuery', `The filter has more than ${filterBounds.conditions} conditions`)
}

function unknownOperator(operator: string, known: readonly string[]): ApiError {
  const prefixed = `$${operator}`
  if (known.includes(prefixed)) {
    return new ApiError('InvalidQuery', `The operator '${operator}' lacks its '$': write '${prefixed}'`)
  }
  return new ApiError(
    'InvalidQuery',
    `There is no operator '${shortened(operator)}' here. The operators are ${known.join(', ')}`,
  )
}
