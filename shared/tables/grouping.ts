import { ApiError } from '../errors.ts'
import { joined, sql, type Sql } from '../store/sql.ts'
import { asNumber, findReference, hasValue, shortened, type ColumnTypes, type Reference } from './column-reference.ts'
import { isObject } from './conditions.ts'
import { sortKeys } from './order.ts'

const aggregations = ['key', 'count', 'sum', 'avg', 'max', 'min', 'unique'] as const
type Aggregation = (typeof aggregations)[number]

/** Upper bound of the values of one group's answer, and so of the columns of the statement. */
const maxValues = 50

/** The parts of a statement that groups rows: what it takes from each row, and what it makes of them. */
export interface Grouping {
  /** Of each row `r`, each with a name. */
  inner: Sql
  /** Of the rows as `inner` names them: an object as `jsonb`, the answer. */
  outer: Sql
  /** Empty when all rows are one group. */
  groupBy?: Sql
  orderBy?: Sql
}

interface Part {
  reference: Reference
  aggregation: Aggregation
  /** The name in the answer, for instance `totalSum`. */
  name: string
}

/**
 * Compiles a group of a request.
 *
 * @throws ApiError `InvalidQuery` that names the column or aggregation at fault
 */
export function groupingOf(columns: ColumnTypes, group: Record<string, unknown>): Grouping {
  const parts = Object.entries(group).flatMap(([name, asked]) => partsOf(columns, name, asked))
  if (parts.length === 0) {
    throw new ApiError('InvalidQuery', `'group' names no column, such as { "status": "key", "id": "count" }`)
  }
  if (parts.length > maxValues) {
    throw new ApiError('InvalidQuery', `'group' has more than ${maxValues} columns and aggregations`)
  }
  const keys = parts.flatMap((part, index) => (part.aggregation === 'key' ? [{ ...part, index }] : []))
  const orders = keys.flatMap(({ reference, index }) =>
    isPlain(reference) || !isOrdered(reference)
      ? []
      : sortKeys(reference).map((key, part) => ({ key, of: index, name: named('o', index, part) })),
  )
  const inner = joined(
    [
      ...parts.map(
        ({ reference, aggregation }, index) => sql`${valueOf(reference, aggregation)} as ${named('v', index)}`,
      ),
      ...orders.map(({ key, name }) => sql`${key} as ${name}`),
    ],
    ', ',
  )
  const fields = parts.map(
    ({ reference, aggregation, name }, index) =>
      sql`${name}::text, ${outerOf(reference, aggregation, named('v', index))}`,
  )
  const grouped = [...keys.map(({ index }) => named('v', index)), ...orders.map(({ name }) => name)]
  const ordered = keys.flatMap(({ index }) => [
    ...orders.filter(({ of }) => of === index).map(({ name }) => sql`${name} nulls last`),
    sql`${named('v', index)} nulls last`,
  ])
  return {
    inner,
    outer: sql`jsonb_build_object(${joined(fields, ', ')})`,
    ...(keys.length > 0 && { groupBy: joined(grouped, ', '), orderBy: joined(ordered, ', ') }),
  }
}

/** A name of our own: a letter and numbers. */
function named(letter: 'v' | 'o', index: number, part = 0): Sql {
  return { text: `${letter}${index}_${part}`, bindings: [] }
}

function partsOf(columns: ColumnTypes, name: string, asked: unknown): Part[] {
  const reference = findReference(columns, name)
  const names = Array.isArray(asked) ? (asked as unknown[]) : [asked]
  return [...new Set(names)].map((aggregation) => {
    if (!isAggregation(aggregation)) {
      const given = typeof aggregation === 'string' ? `'${shortened(aggregation)}'` : JSON.stringify(aggregation)
      throw new ApiError(
        'InvalidQuery',
        `The group of '${shortened(name)}' takes ${aggregations.join(', ')}, or an array of these, not ${isObject(aggregation) ? 'an object' : given}`,
      )
    }
    assertFits(reference, aggregation)
    return { reference, aggregation, name: answerName(name, aggregation) }
  })
}

function isAggregation(value: unknown): value is Aggregation {
  return (aggregations as readonly unknown[]).includes(value)
}

/** Numbers have all aggregations; texts and times have no sum; the others can only be counted. */
function assertFits(reference: Reference, aggregation: Aggregation): void {
  const { kind } = reference
  if (kind === 'number' || kind === 'any') return
  const has: Aggregation[] =
    kind === 'string' || kind === 'time' ? ['key', 'count', 'max', 'min', 'unique'] : ['key', 'count', 'unique']
  if (has.includes(aggregation)) return
  throw new ApiError(
    'InvalidQuery',
    `'${shortened(reference.name)}' holds a ${kind}, which takes ${has.join(', ')} and not '${aggregation}'`,
  )
}

function isOrdered({ kind }: Reference): boolean {
  return kind !== 'object' && kind !== 'array'
}

/** `attributes.price` and `sum` as `attributesPriceSum`. */
function answerName(column: string, aggregation: Aggregation): string {
  const words = column.split(/[^\p{Letter}\p{Number}_$]+/u).filter((word) => word !== '')
  const camel = words.map((word, index) => (index === 0 ? lowered(word) : capitalised(word))).join('')
  return `${camel}${capitalised(aggregation)}`
}

function capitalised(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1)
}

function lowered(word: string): string {
  return word.slice(0, 1).toLowerCase() + word.slice(1)
}

/**
 * Whether the values are of a type of PostgreSQL whose JSON is their answer. Such values are grouped and compared faster
 * than JSON.
 */
function isPlain({ isSystem, kind }: Reference): boolean {
  return isSystem || kind === 'string' || kind === 'time' || kind === 'number'
}

/** The operand that an aggregation needs of each row; null where the row has no value. */
function valueOf(reference: Reference, aggregation: Aggregation): Sql {
  if (reference.isSystem || isPlain(reference)) return sortKeys(reference)[0]!
  if (aggregation === 'count') return sql`case when ${hasValue(reference)} then 1 end`
  if (aggregation === 'key' || aggregation === 'unique') {
    return sql`case when ${hasValue(reference)} then ${reference.json} end`
  }
  return asNumber(reference)
}

function outerOf({ isSystem, kind }: Reference, aggregation: Aggregation, value: Sql): Sql {
  const answer = (found: Sql) => (isSystem && kind === 'time' ? toIsoText(found) : found)
  switch (aggregation) {
    case 'key':
      return answer(value)
    case 'unique':
      return sql`count(distinct ${value})`
    case 'count':
      return sql`count(${value})`
    case 'sum':
      return sql`sum(${value})`
    case 'avg':
      return sql`avg(${value})`
    case 'max':
      return answer(sql`max(${value})`)
    case 'min':
      return answer(sql`min(${value})`)
  }
}

/** A time as answers have it. */
function toIsoText(column: Sql): Sql {
  return sql`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}
