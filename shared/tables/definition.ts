import { isDeepStrictEqual } from 'node:util'
import { acceptSchemas } from '../code/accept-schema.ts'
import { isObject } from '../code/json-schema/is-object.ts'
import { ApiError } from '../errors.ts'
import { jsonSchema } from '../models/definition.ts'
import type { Column, Columns } from '../models/column.ts'
import { systemColumns } from '../models/table.ts'
import { assertDependencies, renameDependency } from './computed-columns.ts'
import { invalidColumn, isColumnSchema, schemaOfExample, toColumn, type GivenColumn } from './column.ts'

/** The columns of a table, and what is kept to change them. */
export interface Definition {
  columns: Columns
  required: readonly string[]
  nextField: number
}

/** In a filter, a column of such a name would take the place of the operator. */
const logicalOperators = ['$and', '$or', '$not']

const maxColumns = 20
export const maxColumnName = 30

const none: Definition = { columns: {}, required: [], nextField: 1 }

/**
 * Reads the columns of a new table from any of the three forms that published clients send: a JSON Schema, a map of
 * columns to schemas, or a map of columns to example values.
 *
 * @throws ApiError `InvalidJsonSchema`, `InvalidPayload` or `LimitExceeded` that names the column
 */
export function newDefinition(given: Record<string, unknown>): Definition {
  return changeDefinition(none, given)
}

/**
 * Adds and changes the columns that a request names, and removes those that are null. A column whose type changes loses
 * its values: it gets another field.
 *
 * @throws ApiError as `newDefinition`
 */
export function changeDefinition(definition: Definition, given: Record<string, unknown>): Definition {
  const { schemas, required = definition.required, isJsonSchema } = readForm(given)
  const columns = new Map(Object.entries(definition.columns))
  const isSchema = (schema: unknown): schema is Record<string, unknown> =>
    isJsonSchema ? isObject(schema) : isColumnSchema(schema)
  let { nextField } = definition
  for (const [name, schema] of schemas) {
    const present = columns.get(name)
    if (schema === null && (present !== undefined || definition !== none)) {
      columns.delete(name)
      continue
    }
    assertColumnName(name)
    if (isJsonSchema && schema === null) throw invalidColumn(name, 'must be a JSON Schema')
    const column = toColumn(name, isSchema(schema) ? schema : schemaOfExample(schema))
    const keepsValues = present !== undefined && storesAlike(present, column)
    const settings = {
      index: present?.['x-zui'].index ?? nextIndex(columns),
      ...withoutIndex(present?.['x-zui']),
      ...column['x-zui'],
    }
    const field = keepsValues ? present.field : `f${nextField++}`
    columns.set(name, { ...column, 'x-zui': settings, field })
  }
  if (columns.size > maxColumns) {
    throw new ApiError(
      'LimitExceeded',
      `A table has at most ${maxColumns} columns; this one would have ${columns.size}`,
    )
  }
  const kept = required.filter((name) => columns.has(name))
  const changed = { columns: Object.fromEntries(columns), required: [...new Set(kept)], nextField }
  assertDependencies(changed.columns)
  acceptSchemas({ properties: { schema: jsonSchema } }, { schema: { type: 'object', properties: changed.columns } })
  return changed
}

/** Renames a column, which keeps its values. */
export function renameColumn({ columns, required, nextField }: Definition, name: string, newName: string): Definition {
  const rename = (one: string) => (one === name ? newName : one)
  return {
    columns: Object.fromEntries(
      Object.entries(columns).map(([one, column]) => [rename(one), renameDependency(column, name, newName)]),
    ),
    required: required.map(rename),
    nextField,
  }
}

export function isSameDefinition(one: Definition, other: Definition): boolean {
  return isDeepStrictEqual({ ...one, required: [...one.required] }, { ...other, required: [...other.required] })
}

/** @throws ApiError `InvalidPayload` when a column may not have this name */
export function assertColumnName(name: string): void {
  const shown = name.slice(0, 60)
  if (name.trim() === '' || name.length > maxColumnName) {
    throw new ApiError('InvalidPayload', `The column name '${shown}' must have 1 to ${maxColumnName} characters`)
  }
  if ((systemColumns as readonly string[]).includes(name) || name === '__proto__') {
    throw new ApiError('InvalidPayload', `A column cannot be named '${shown}': the name is taken`)
  }
  if (logicalOperators.includes(name)) {
    throw new ApiError('InvalidPayload', `A column cannot be named '${shown}', which is an operator of filters`)
  }
  // oxlint-disable-next-line no-control-regex -- These cannot be stored, or seen.
  if (/[\u0000-\u001f]/.test(name) || !name.isWellFormed()) {
    throw new ApiError(
      'InvalidPayload',
      `The column name '${shown.toWellFormed()}' has a character that cannot be stored`,
    )
  }
}

interface GivenSchema {
  isJsonSchema: boolean
  schemas: [name: string, schema: unknown][]
  required?: string[]
}

function readForm(given: Record<string, unknown>): GivenSchema {
  const { type, properties, required } = given
  const isJsonSchema =
    isObject(properties) && (type === 'object' || (type === undefined && !isColumnSchema(properties)))
  if (!isJsonSchema) return { isJsonSchema, schemas: Object.entries(given) }
  if (required !== undefined && !(Array.isArray(required) && required.every((name) => typeof name === 'string'))) {
    throw new ApiError('InvalidJsonSchema', 'schema: required must be a list of column names')
  }
  for (const [name, schema] of Object.entries(properties)) {
    if (schema !== null && !isObject(schema)) throw invalidColumn(name, 'must be a JSON Schema')
  }
  return {
    isJsonSchema,
    schemas: Object.entries(properties),
    ...(required !== undefined && { required }),
  }
}

/** Whether values of one column are values of the other. Times are stored in one form, other texts as they are given. */
function storesAlike(one: Column, other: GivenColumn): boolean {
  return one.type === other.type && (isTime(one) || !isTime(other))
}

export function isTime({ type, format }: { type?: string; format?: string }): boolean {
  return type === 'string' && format === 'date-time'
}

function nextIndex(columns: Map<string, Column>): number {
  return Math.max(-1, ...[...columns.values()].map((column) => column['x-zui'].index)) + 1
}

function withoutIndex({ index: _index, ...settings }: Partial<Column['x-zui']> = {}) {
  return settings
}
