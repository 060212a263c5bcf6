import { ApiError } from '../errors.ts'
import { joined, sql, type Sql } from '../store/sql.ts'
import {
  asBoolean,
  asNumber,
  asText,
  hasValue,
  shortened,
  type DataReference,
  type Kind,
  type Reference,
  type SystemReference,
} from './column-reference.ts'
import { toTime } from './time.ts'

/** The conditions on one value. Each is true or false for every row, and never null, so that it can be negated. */

type Comparison = '$gt' | '$gte' | '$lt' | '$lte'

const comparisons: Record<Comparison, Sql> = {
  $gt: sql`>`,
  $gte: sql`>=`,
  $lt: sql`<`,
  $lte: sql`<=`,
}

const nothing = sql`false`

/** The rows that have this value; null stands for no value. A scalar also equals an array that has it as an element. */
export function equals(reference: Reference, operator: string, given: unknown): Sql {
  if (given === null) return sql`(not ${hasValue(reference)})`
  return isAnyOf(reference, operator, [given])
}

/** The rows that have one of these values, or an array with one of them as an element. */
export function isAnyOf(reference: Reference, operator: string, given: unknown[]): Sql {
  const values = given.filter((value) => value !== null).map((value) => checked(reference, operator, value))
  const matches = [
    ...(values.length < given.length ? [sql`(not ${hasValue(reference)})`] : []),
    ...(values.length === 0 ? [] : reference.isSystem ? [isOneOf(reference, values)] : equalOf(reference, values)),
  ]
  if (matches.length === 0) return nothing
  return sql`(${joined(matches, ' or ')})`
}

function isOneOf({ column, castAll }: SystemReference, values: unknown[]): Sql {
  return sql`(${column} = any(${castAll(values.map(String))}))`
}

/** Containment is what the index of the rows serves; for scalars it means equality. */
function equalOf(reference: DataReference, values: unknown[]): Sql[] {
  const { kind, json, rowWith } = reference
  const scalars = values.filter((value) => typeof value !== 'object')
  const others = values.filter((value) => typeof value === 'object')
  const found: Sql[] = []
  if (scalars.length > 0) {
    const asElements = kind === 'array' || kind === 'any' ? scalars.map((value) => [value]) : []
    const asThemselves = kind === 'array' ? [] : scalars
    const all = [...asThemselves, ...asElements]
    if (rowWith) found.push(sql`(r.data @> any(${toJson(all.map(rowWith))}::jsonb[]))`)
    else {
      if (asThemselves.length > 0) found.push(isIn(json, asThemselves))
      if (asElements.length > 0) found.push(sql`coalesce(${json} @> any(${toJson(asElements)}::jsonb[]), false)`)
    }
  }
  if (others.length > 0) {
    const isEqual = isIn(json, others)
    if (rowWith && kind === 'object') {
      found.push(sql`(r.data @> any(${toJson(others.map(rowWith))}::jsonb[]) and ${isEqual})`)
    } else found.push(isEqual)
    if (kind === 'array' || kind === 'any') found.push(hasElement(json, others))
  }
  return found
}

function isIn(json: Sql, values: unknown[]): Sql {
  return sql`coalesce(${json} = any(${toJson(values)}::jsonb[]), false)`
}

function hasElement(json: Sql, values: unknown[]): Sql {
  const elements = sql`jsonb_array_elements(case when jsonb_typeof(${json}) = 'array' then ${json} else '[]'::jsonb end)`
  return sql`exists (select from ${elements} as element (value) where value = any(${toJson(values)}::jsonb[]))`
}

function toJson(values: unknown[]): string[] {
  return values.map((value) => JSON.stringify(value))
}

/** The rows whose value comes before or after this one, in the order of the column's type. */
export function compares(reference: Reference, operator: Comparison, given: unknown): Sql {
  if (typeof given === 'object') {
    throw wrongValue(reference, operator, given, 'a text, a number, a time or a boolean')
  }
  const value = checked(reference, operator, given)
  const symbol = comparisons[operator]
  if (reference.isSystem) return sql`(${reference.column} ${symbol} ${reference.cast(String(value))})`
  if (reference.kind === 'array' || reference.kind === 'object') {
    throw new ApiError(
      'InvalidQuery',
      `'${shortened(reference.name)}' holds an ${reference.kind}, which has no order: '${operator}' cannot compare it`,
    )
  }
  switch (typeof value) {
    case 'number':
      return sql`coalesce(${asNumber(reference)} ${symbol} ${String(value)}::numeric, false)`
    case 'boolean':
      return sql`coalesce(${asBoolean(reference)} ${symbol} ${String(value)}::text, false)`
    default:
      return sql`coalesce(${asText(reference)} ${symbol} ${value as string}::text, false)`
  }
}

/** Upper bound of a pattern. PostgreSQL compiles one of this length in less than 0.2 s, or refuses it. */
const maxPatternCharacters = 1024

/** The rows whose text has a part that matches. PostgreSQL matches, whose engine does not backtrack. */
export function matches(reference: Reference, pattern: unknown, options: unknown): Sql {
  if (typeof pattern !== 'string') throw wrongValue(reference, '$regex', pattern, 'a pattern as text')
  if (pattern.length > maxPatternCharacters) {
    throw new ApiError(
      'InvalidQuery',
      `The pattern of '${shortened(reference.name)}' has ${pattern.length} characters: at most ${maxPatternCharacters} are allowed`,
    )
  }
  if (options !== undefined && options !== '' && options !== 'i' && options !== 'c') {
    throw new ApiError('InvalidQuery', `'$options' must be 'i', which ignores case, or 'c', which does not`)
  }
  if (reference.isSystem || !['string', 'time', 'any'].includes(reference.kind)) {
    throw new ApiError(
      'InvalidQuery',
      `'${shortened(reference.name)}' holds ${described(reference.kind)}: '$regex' needs a text`,
    )
  }
  // The collation "C" of the comparisons would ignore the case of English letters only.
  const { json, text } = reference
  const value = sql`(case when jsonb_typeof(${json}) = 'string' then ${text} end)`
  return options === 'i'
    ? sql`coalesce(${value} ~* ${pattern}::text, false)`
    : sql`coalesce(${value} ~ ${pattern}::text, false)`
}

/** The rows whose number leaves this remainder. */
export function leavesRemainder(reference: Reference, given: unknown): Sql {
  const [divisor, remainder, ...others] = Array.isArray(given) ? (given as unknown[]) : []
  if (!isFinite(divisor) || !isFinite(remainder) || others.length > 0 || divisor === 0) {
    throw new ApiError('InvalidQuery', `'$mod' takes two numbers, [divisor, remainder], and the divisor is not 0`)
  }
  if (reference.kind !== 'number' && reference.kind !== 'any') {
    throw new ApiError(
      'InvalidQuery',
      `'${shortened(reference.name)}' holds ${described(reference.kind)}: '$mod' needs a number`,
    )
  }
  const value = reference.isSystem ? sql`${reference.column}::numeric` : asNumber(reference)
  return sql`coalesce(mod(${value}, ${String(divisor)}::numeric) = ${String(remainder)}::numeric, false)`
}

/** The rows whose array has this number of elements. */
export function hasSize(reference: Reference, given: unknown): Sql {
  if (typeof given !== 'number' || !Number.isInteger(given) || given < 0 || given > 1e9) {
    throw wrongValue(reference, '$size', given, 'a whole number from 0')
  }
  if (reference.isSystem || (reference.kind !== 'array' && reference.kind !== 'any')) {
    throw new ApiError(
      'InvalidQuery',
      `'${shortened(reference.name)}' holds ${described(reference.kind)}: '$size' needs an array`,
    )
  }
  const { json } = reference
  const size = sql`(case when jsonb_typeof(${json}) = 'array' then jsonb_array_length(${json}) end)`
  return sql`coalesce(${size} = ${String(given)}::int, false)`
}

/** The rows that have a value, or those that have none. */
export function exists(reference: Reference, given: unknown): Sql {
  if (typeof given !== 'boolean') throw wrongValue(reference, '$exists', given, 'true or false')
  return given ? hasValue(reference) : sql`(not ${hasValue(reference)})`
}

/**
 * Checks a value against the type of its column.
 *
 * @returns the value in the form in which rows hold it
 * @throws ApiError `InvalidQuery`
 */
function checked(reference: Reference, operator: string, value: unknown): unknown {
  const { kind } = reference
  if (typeof value === 'number' && !Number.isFinite(value)) throw wrongValue(reference, operator, value, 'a number')
  if (reference.isSystem && kind === 'number' && !Number.isSafeInteger(value)) {
    throw wrongValue(reference, operator, value, 'a whole number')
  }
  switch (kind) {
    case 'time':
      return toTime(value) ?? refuse(reference, operator, value)
    case 'array':
      return value
    case 'object':
      return isObject(value) ? value : refuse(reference, operator, value)
    case 'any':
      return value
    default:
      return typeof value === kind ? value : refuse(reference, operator, value)
  }
}

function refuse(reference: Reference, operator: string, value: unknown): never {
  throw wrongValue(reference, operator, value, described(reference.kind))
}

function wrongValue(reference: Reference, operator: string, value: unknown, expected: string): ApiError {
  return new ApiError(
    'InvalidQuery',
    `'${operator}' of '${shortened(reference.name)}' takes ${expected}, not ${describedValue(value)}`,
  )
}

const descriptions: Record<Kind, string> = {
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
  time: 'a time, as 2026-11-22T10:00:00Z is',
  object: 'an object',
  array: 'an array',
  any: 'a value',
}

function described(kind: Kind): string {
  return descriptions[kind]
}

function describedValue(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return 'an object'
  return typeof value === 'string' ? `'${shortened(value)}'` : JSON.stringify(value)
}

function isFinite(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
