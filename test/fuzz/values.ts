import type { Chances } from '../chaos/random.ts'

/** The part of JSON Schema that values are generated from. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  oneOf?: Schema[]
  anyOf?: Schema[]
  allOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: boolean | Schema
  minimum?: number
  maximum?: number
  format?: string
}

/** Resolves a reference. */
export type Resolve = (reference: string) => Schema

const long = 20_000

/** Texts that programs often handle wrongly. */
export const oddTexts: readonly string[] = [
  ['', ' ', '\0', 'a\0b', '\ud800', '\udfff\ud800', '😀', '\u202e', '\r\nx: y', '\u2028', 'ﷺ', 'ı'],
  ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'null', 'undefined', 'true', 'NaN', 'Infinity'],
  ["' or 1=1 --", '"; drop table users', '%00', '%zz', '%', '../../etc/passwd', '..', '/', '//', 'a/b', '?a=b', '#'],
  ['{"a":1}', '[]', '${1}', '{{1}}', '<script>', '*', '\\', '[', '(a+)+$', '^', '-1', '0', '1e309', '00', '1.5'],
  ['9007199254740993', '99999999999999999999', '-9223372036854775809'],
  ['0000-01-01T00:00:00Z', '9999-12-31T23:59:60Z', '+275760-09-13T00:00:00.001Z', '2026-02-30T00:00:00Z'],
  ['-271821-04-20T00:00:00Z', '2026-11-22T00:00:00+99:99', 'infinity', 'epoch', 'now', '2026', '0'],
  ['user_', 'conv_01', 'msg_01JD2W6VYB0M3W6TQ5XKX1J9QZ', 'x'.repeat(71), 'x'.repeat(256), 'x'.repeat(long)],
].flat()

/** Code that has fewer functions than the code that it replaces, or none. */
export const poorCodes: readonly string[] = [
  'export const hooks = {}',
  'export const actions = {}',
  'export const actions = { greet() {} }',
  'export const register = () => {}',
  'export const hooks = [], actions = null',
  'export default {}',
  '',
]

const oddNumbers = [0, -0, -1, 1.5, 2 ** 31, 2 ** 31 - 1, 2 ** 53, 2 ** 63, 1e21, 1e308, -1e308, 5e-324, 101, 1_000_000]

/** Values of every type, mostly of the wrong one for their field. */
export function oddValue(chances: Chances): unknown {
  const kind = Math.floor(chances.between(0, 10))
  if (kind < 5) return chances.pick(oddTexts)
  if (kind < 7) return chances.pick(oddNumbers)
  return chances.pick<() => unknown>([
    () => null,
    () => true,
    () => false,
    () => ({}),
    () => [],
    () => [null],
    () => ({ __proto__: null, constructor: { prototype: 1 } }),
    () => JSON.parse('{"__proto__":{"polluted":true}}') as unknown,
    () => Array.from({ length: 5000 }, (_, index) => index),
    () => Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`field${index}`, index])),
    () => nested(Math.floor(chances.between(1, 600))),
  ])()
}

function nested(depth: number): unknown {
  let value: unknown = 'deep'
  for (let level = 0; level < depth; level++) value = level % 2 ? [value] : { deep: value }
  return value
}

/** Generates a value that mostly conforms to a schema. */
export function valueOf(schema: Schema, chances: Chances, resolve: Resolve, depth = 0): unknown {
  const within = (inner: Schema) => valueOf(inner, chances, resolve, depth + 1)
  if (depth > 8) return null
  if (schema.$ref !== undefined) return within(resolve(schema.$ref))
  if ('const' in schema) return schema.const
  if (schema.enum) return chances.pick(schema.enum)
  const choice = schema.oneOf ?? schema.anyOf
  if (choice) return within(chances.pick(choice))
  const type = Array.isArray(schema.type) ? chances.pick(schema.type) : schema.type
  switch (type) {
    case 'string':
      if (schema.format === 'date-time') return new Date(chances.between(0, 2e12)).toISOString()
      return chances.pick(['a', 'text', 'order-1', 'x'.repeat(40), chances.pick(oddTexts)])
    case 'integer':
    case 'number':
      return Math.round(chances.between(schema.minimum ?? 0, schema.maximum ?? 100))
    case 'boolean':
      return chances.pick([true, false])
    case 'null':
      return null
    case 'array':
      return Array.from({ length: Math.floor(chances.between(0, 3)) }, () => within(schema.items ?? {}))
    case 'object':
      return objectOf(schema, chances, within)
    default:
      return oddValue(chances)
  }
}

function objectOf(schema: Schema, chances: Chances, within: (inner: Schema) => unknown): object {
  const { properties = {}, required = [], additionalProperties } = schema
  const names = Object.keys(properties).filter((name) => required.includes(name) || chances.between(0, 1) < 0.4)
  const fields = names.map((name) => [name, within(properties[name]!)] as const)
  if (typeof additionalProperties !== 'object' && !(additionalProperties && names.length === 0)) {
    return Object.fromEntries(fields)
  }
  const entry = typeof additionalProperties === 'object' ? within(additionalProperties) : oddValue(chances)
  return Object.fromEntries([...fields, [chances.pick(['a', 'b.c', chances.pick(oddTexts)]), entry]])
}

/** Changes a value in some places: removes a field, adds one, or makes one invalid. */
export function mutate(value: unknown, chances: Chances): unknown {
  if (chances.between(0, 1) < 0.15 || typeof value !== 'object' || value === null) return oddValue(chances)
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? [...(value as unknown[])] : { ...value }
  const keys = Object.keys(copy)
  const fields = copy as Record<string, unknown>
  const key =
    keys.length > 0 && chances.between(0, 1) < 0.85 ? chances.pick(keys) : chances.pick(['extra', 'id', 'type'])
  const what = chances.between(0, 1)
  if (what < 0.15) delete fields[key]
  else if (what < 0.6) fields[key] = oddValue(chances)
  else fields[key] = mutate(fields[key], chances)
  return copy
}
