'use strict'
// Prints the declarations of a bundled definition, with its schemas in JSON.
const { default: definition, zodToJsonSchema } = require(process.argv[2])

const isSchema = (value) => typeof value?.safeParse === 'function'

function toJsonSchema(schema) {
  const convert = schema.toJSONSchema ?? schema.toJsonSchema
  return convert ? convert.call(schema) : zodToJsonSchema(schema)
}

function plain(value, depth = 0) {
  if (isSchema(value)) return toJsonSchema(value)
  if (value === null || typeof value !== 'object' || depth > 12) return typeof value === 'function' ? undefined : value
  if (Array.isArray(value)) return value.map((one) => plain(one, depth + 1))
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one, depth + 1)]))
}

const parts = [
  'name',
  'version',
  'title',
  'description',
  'configuration',
  'configurations',
  'actions',
  'events',
  'channels',
  'states',
  'user',
  'conversation',
  'message',
  'entities',
  'recurringEvents',
  'identifier',
]
const given = Object.fromEntries(parts.map((part) => [part, plain(definition[part] ?? definition.props?.[part])]))
process.stdout.write(`\n${JSON.stringify({ ...given, secretNames: Object.keys(definition.secrets ?? {}) })}`)
