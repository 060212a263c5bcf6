import { ApiError } from '../errors.ts'
import { sql, type Sql } from '../store/sql.ts'

/** The type of a value by its schema, as far as conditions, orders and groups depend on it. */
interface ValueType {
  type?: unknown
  format?: unknown
  items?: unknown
  properties?: unknown
}

/** A column, as far as they depend on it. */
export interface ColumnType extends ValueType {
  /** The key of its values in the data of rows. */
  field: string
}

/** The columns of a table by name. */
export type ColumnTypes = Readonly<Record<string, ColumnType>>

/**
 * How values are compared. `time` is a column of times, stored as UTC texts of one length; `any` is an element about
 * which the table's schema says nothing: there, the type of the given value decides.
 */
export type Kind = 'string' | 'number' | 'boolean' | 'time' | 'object' | 'array' | 'any'

/** A column of every table, which is a column of PostgreSQL. */
export interface SystemReference {
  isSystem: true
  name: string
  kind: 'number' | 'time'
  /** The column, and the type of PostgreSQL to which values are cast. */
  column: Sql
  cast: (value: string) => Sql
  castAll: (values: string[]) => Sql
}

/** A column of the table's schema, or an element within one. */
export interface DataReference {
  isSystem: false
  /** As the caller writes it. */
  name: string
  kind: Kind
  /** The column's field, then the keys and indexes within its value. */
  path: readonly string[]
  /** The value as `jsonb`; null where there is none. */
  json: Sql
  /** The value as text. */
  text: Sql
  /**
   * The row that has a value here and nowhere else, which rows contain (`@>`) that have this value. Absent for a path
   * through arrays, since containment knows no positions.
   */
  rowWith?: ((value: unknown) => unknown) | undefined
}

export type Reference = SystemReference | DataReference

const systemColumns: Record<string, Omit<SystemReference, 'name' | 'isSystem'>> = {
  id: {
    kind: 'number',
    column: sql`r.id`,
    cast: (value) => sql`${value}::bigint`,
    castAll: (values) => sql`${values}::bigint[]`,
  },
  createdAt: {
    kind: 'time',
    column: sql`r.created_at`,
    cast: (value) => sql`${value}::timestamptz`,
    castAll: (values) => sql`${values}::timestamptz[]`,
  },
  updatedAt: {
    kind: 'time',
    column: sql`r.updated_at`,
    cast: (value) => sql`${value}::timestamptz`,
    castAll: (values) => sql`${values}::timestamptz[]`,
  },
}

/** The published documentation orders by `row_id` in one place. */
const aliases: Record<string, string> = { row_id: 'id' }

/** Upper bound of a path in keys and indexes. */
const maxSegments = 20

/**
 * Finds what a name in a request refers to: a column, or with dots an element of an object or array in it. A column
 * whose own name has dots takes precedence.
 *
 * @throws ApiError `InvalidQuery` when no column has the name
 */
export function findReference(columns: ColumnTypes, name: string): Reference {
  if (!Object.hasOwn(columns, name)) {
    const system = Object.hasOwn(aliases, name) ? aliases[name]! : name
    if (Object.hasOwn(systemColumns, system)) return { isSystem: true, name: system, ...systemColumns[system]! }
  }
  const segments = name.split('.')
  if (segments.length > maxSegments) {
    throw new ApiError('InvalidQuery', `The path '${shortened(name)}' has more than ${maxSegments} parts`)
  }
  for (let length = segments.length; length > 0; length--) {
    const column = segments.slice(0, length).join('.')
    if (!Object.hasOwn(columns, column)) continue
    return referenceTo(name, column, columns[column]!, segments.slice(length))
  }
  throw unknownColumn(columns, name)
}

function unknownColumn(columns: ColumnTypes, name: string): ApiError {
  const known = ['id', 'createdAt', 'updatedAt', ...Object.keys(columns)].map((column) => `'${column}'`).join(', ')
  return new ApiError('InvalidQuery', `The table has no column '${shortened(name)}'. Its columns are ${known}`)
}

function referenceTo(name: string, columnName: string, column: ColumnType, rest: string[]): DataReference {
  const path = [column.field, ...rest]
  let type: ValueType | undefined = column
  let hasIndex = false
  for (const segment of rest) {
    const kind = kindOf(type)
    if (kind !== 'object' && kind !== 'array' && kind !== 'any') {
      throw new ApiError(
        'InvalidQuery',
        `'${shortened(name)}' leads into '${columnName}', which holds a ${kind} and has no '${shortened(segment)}'`,
      )
    }
    const isIndex = /^\d{1,9}$/.test(segment)
    if (kind === 'array' && !isIndex) {
      throw new ApiError(
        'InvalidQuery',
        `'${shortened(name)}' leads into an array: name one of its elements, as '${columnName}.0' does`,
      )
    }
    hasIndex ||= isIndex
    type = kind === 'array' ? asType(type?.items) : ownProperty(type, segment)
  }
  const kind = kindOf(type)
  return {
    isSystem: false,
    name,
    // Only columns are normalised when they are written, not what is within their values.
    kind: kind === 'time' && rest.length > 0 ? 'string' : kind,
    path,
    json: rest.length === 0 ? sql`(r.data -> ${column.field}::text)` : sql`(r.data #> ${path}::text[])`,
    text: rest.length === 0 ? sql`(r.data ->> ${column.field}::text)` : sql`(r.data #>> ${path}::text[])`,
    ...(!hasIndex && {
      rowWith: (value: unknown) => path.reduceRight((inner, key) => Object.fromEntries([[key, inner]]), value),
    }),
  }
}

function ownProperty(type: ValueType | undefined, name: string): ValueType | undefined {
  const properties = type?.properties
  if (typeof properties !== 'object' || properties === null || !Object.hasOwn(properties, name)) return undefined
  return asType((properties as Record<string, unknown>)[name])
}

function asType(schema: unknown): ValueType | undefined {
  return typeof schema === 'object' && schema !== null ? schema : undefined
}

function kindOf(type: ValueType | undefined): Kind {
  switch (type?.type) {
    case 'string':
      return type.format === 'date-time' ? 'time' : 'string'
    case 'number':
    case 'integer':
      return 'number'
    case 'boolean':
    case 'object':
    case 'array':
      return type.type
    default:
      return 'any'
  }
}

/** A name for a message, which a caller may have made as long as a body is. */
export function shortened(name: string): string {
  return name.length > 100 ? `${name.slice(0, 100)}…` : name
}

/** The value as a number, where it is one. */
export function asNumber({ json }: DataReference): Sql {
  return sql`(case when jsonb_typeof(${json}) = 'number' then ${json}::numeric end)`
}

/** The value as text in the order of its code points, where it is text. */
export function asText({ path, kind, json, text }: DataReference): Sql {
  if (isChecked(path, kind)) return sql`${text} collate "C"`
  return sql`(case when jsonb_typeof(${json}) = 'string' then ${text} end) collate "C"`
}

/** The value as `false` or `true`, which have this order as texts too, where it is one. */
export function asBoolean({ path, kind, json, text }: DataReference): Sql {
  if (isChecked(path, kind)) return text
  return sql`(case when jsonb_typeof(${json}) = 'boolean' then ${text} end)`
}

/** Whether writes guarantee the type: they check columns, and not what is within their values. */
function isChecked(path: readonly string[], kind: Kind): boolean {
  return path.length === 1 && kind !== 'any'
}

/** Whether the row has a value here. */
export function hasValue(reference: Reference): Sql {
  if (reference.isSystem) return sql`true`
  return sql`(coalesce(jsonb_typeof(${reference.json}), 'null') <> 'null')`
}
