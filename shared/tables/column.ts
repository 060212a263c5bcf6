import { didYouMean } from '../did-you-mean.ts'
import { ApiError } from '../errors.ts'
import { isObject } from '../code/json-schema/is-object.ts'
import type { ColumnSettings } from '../models/column.ts'

/** A column as a request declares it, without its index and field. */
export interface GivenColumn {
  type?: string
  format?: string
  nullable: boolean
  'x-zui': Partial<ColumnSettings>
}

const types = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']

/**
 * Whether a value of a column map is a schema of the column, and not an example of its values. An object with a field
 * `type` that is no type of JSON Schema is an example.
 */
export function isColumnSchema(given: unknown): given is Record<string, unknown> {
  if (!isObject(given)) return false
  const { type, anyOf, oneOf, enum: values, 'x-zui': settings } = given
  if (typeof type === 'string') return types.includes(type)
  return [type, anyOf, oneOf, values].some(Array.isArray) || isObject(settings)
}

/** The schema of a column whose values are like an example. Null is an example of no type: the column takes any value. */
export function schemaOfExample(example: unknown): Record<string, unknown> {
  if (example === null || example === undefined) return {}
  if (!Array.isArray(example)) return { type: typeof example }
  const [first] = example as unknown[]
  return { type: 'array', ...(first !== undefined && first !== null && { items: schemaOfExample(first) }) }
}

/**
 * Brings a schema of a column into the form that is stored: with one type where there is one, and with its settings.
 * @throws ApiError `InvalidJsonSchema` that names the column
 */
export function toColumn(name: string, schema: Record<string, unknown>): GivenColumn {
  const { nullable, 'x-zui': settings = {}, field: _, type: given, ...keywords } = schema
  if (nullable !== undefined && typeof nullable !== 'boolean')
    throw invalidColumn(name, 'has a nullable that is no boolean')
  if (!isObject(settings)) throw invalidColumn(name, 'has an x-zui that is no object')
  assertSettings(name, settings)
  const type = typeOf(name, schema)
  const isWhole = given === 'integer' && keywords['multipleOf'] === undefined
  return {
    ...keywords,
    ...(type !== undefined && { type }),
    ...(isWhole && { multipleOf: 1 }),
    'x-zui': settings,
    nullable: nullable ?? true,
  }
}

/** The one type of a column's values beside null; undefined for a union. */
function typeOf(name: string, { type, anyOf, oneOf, enum: values, const: constant }: Record<string, unknown>) {
  const named = Array.isArray(type) ? (type as unknown[]) : type === undefined ? undefined : [type]
  if (named?.some((one) => !types.includes(one as string))) {
    throw invalidColumn(name, `has a type that is not one of ${types.join(', ')}`)
  }
  const alternatives = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined
  const found: unknown[] =
    named ??
    alternatives?.map((one: unknown) => (isObject(one) ? one['type'] : undefined)) ??
    (Array.isArray(values) ? values : constant === undefined ? [] : [constant]).map(typeOfValue)
  const distinct = new Set(found.map((one) => (one === 'integer' ? 'number' : one)))
  if (distinct.size > 1) distinct.delete('null')
  const [only] = distinct
  return distinct.size === 1 && typeof only === 'string' ? only : undefined
}

function typeOfValue(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

const knownSettings = ['index', 'searchable', 'hidden', 'order', 'width', 'schemaId', 'typings', 'id', 'computed']
const knownOfComputed = ['action', 'dependencies', 'enabled', 'prompt', 'code', 'model', 'workflowId']

/** Unknown settings are stored, as clients may have others; one that is nearly a known one would be without effect. */
function assertSpelling(name: string, path: string, given: Record<string, unknown>, known: readonly string[]): void {
  for (const setting of Object.keys(given)) {
    const near = known.includes(setting) ? undefined : didYouMean(setting.slice(0, 60), known, 2)
    if (near === undefined) continue
    throw invalidColumn(name, `has an unknown ${path}.${setting.slice(0, 60)}; did you mean '${near}'?`)
  }
}

function assertSettings(name: string, settings: Record<string, unknown>): void {
  const { index, searchable, computed } = settings
  assertSpelling(name, 'x-zui', settings, knownSettings)
  const isIndex = index === undefined || (Number.isInteger(index) && (index as number) >= 0 && (index as number) < 1e6)
  if (!isIndex) throw invalidColumn(name, 'has an x-zui.index that is no whole number from 0')
  if (searchable !== undefined && typeof searchable !== 'boolean') {
    throw invalidColumn(name, 'has an x-zui.searchable that is no boolean')
  }
  if (computed === undefined || computed === null) return
  if (!isObject(computed)) throw invalidColumn(name, 'has an x-zui.computed that is no object')
  assertSpelling(name, 'x-zui.computed', computed, knownOfComputed)
  assertComputed(name, computed)
}

const computingActions = ['code', 'ai', 'workflow']

function assertComputed(name: string, { action = 'code', dependencies = [], enabled = true }: Record<string, unknown>) {
  if (!computingActions.includes(action as string)) {
    throw invalidColumn(name, `has an x-zui.computed.action that is not one of ${computingActions.join(', ')}`)
  }
  if (!(Array.isArray(dependencies) && dependencies.every((one) => typeof one === 'string'))) {
    throw invalidColumn(name, 'has x-zui.computed.dependencies that are no list of column names')
  }
  if (typeof enabled !== 'boolean') throw invalidColumn(name, 'has an x-zui.computed.enabled that is no boolean')
}

export function invalidColumn(name: string, problem: string): ApiError {
  return new ApiError('InvalidJsonSchema', `schema: column '${name.slice(0, 60)}' ${problem}`)
}
