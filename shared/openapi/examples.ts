import type { Operation } from '../rpc/operation.ts'
import {
  botId,
  entryNames,
  entryValues,
  exampleId,
  omittedFields,
  values,
  informativeFields,
} from './example-values.ts'
import type { Schema } from './schemas.ts'

const now = '2026-11-22T09:30:00.000Z'

/** The context of an example value in an operation. */
interface Spot {
  /** The API: `chat`, `runtime` or `admin`. */
  api: string
  /** The resource that the value belongs to, in the singular. */
  owner: string
  isAnswer: boolean
}

/**
 * An example of an operation's input without its path parameters.
 *
 * @param api the operation's: `chat`, `runtime` or `admin`
 * @param body the schema of the body
 */
export function exampleOfBody(api: string, operation: Operation, body: Schema): unknown {
  return exampleOf(body, '', { api, owner: ownerIn(operation), isAnswer: false })
}

/** An example of an operation's answer. */
export function exampleOfAnswer(api: string, operation: Operation): unknown {
  return exampleOf(operation.output, '', { api, owner: ownerIn(operation), isAnswer: true })
}

/** An example of a parameter of an operation's path. */
export function exampleOfParameter(api: string, { path }: Operation, schema: Schema, name: string): unknown {
  const [before = ''] = path.split(`/{${name}`)
  const owner = before.endsWith('}') ? 'state' : singular(before.slice(before.lastIndexOf('/') + 1))
  // The path of a state contains the id of the state's owner.
  return owner === 'state' && name === 'id' ? botId : exampleOf(schema, name, { api, owner, isAnswer: true })
}

/** The resource of an operation, from the operation's name: a message for `getOrCreateMessage`. */
function ownerIn({ name }: Operation): string {
  const [, noun = name] = /^(?:[a-z]+(?:Or[A-Z][a-z]+)?)([A-Z]\w*)$/.exec(name) ?? []
  if (noun.startsWith('FailedEvent')) return 'failed-event'
  if (noun.startsWith('Integration') && !noun.endsWith('ApiKey')) return 'integration'
  return singular(noun.charAt(0).toLowerCase() + noun.slice(1))
}

function exampleOf(schema: Schema, field: string, spot: Spot): unknown {
  const { api, owner } = spot
  for (const name of [`${api}.${owner}.${field}`, `${owner}.${field}`, field]) {
    if (Object.hasOwn(values, name) && isOfType(schema, values[name])) return values[name]
  }
  if ('const' in schema) return schema.const
  if (schema.enum) return schema.enum[0]
  if ('default' in schema) return schema.default
  if (schema.oneOf) return exampleOf(schema.oneOf[0]!, field, spot)
  const type = typeof schema.type === 'string' ? schema.type : schema.type?.[0]
  switch (type) {
    case 'object':
      return exampleOfObject(schema, field, spot)
    case 'array':
      return schema.items ? [exampleOf(schema.items, singular(field), { ...spot, owner: singular(field) })] : []
    case 'boolean':
      return true
    case 'null':
      return null
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    default:
      return exampleOfText(schema, field, owner)
  }
}

function exampleOfObject(schema: Schema, field: string, spot: Spot): Record<string, unknown> {
  const { properties, additionalProperties } = schema
  if (properties) {
    const within = { ...spot, owner: ownerWithin(field, spot) }
    const shown = namesToShow(schema, within)
    return Object.fromEntries(shown.map((name) => [name, exampleOf(properties[name]!, name, within)]))
  }
  const entry = entryNames[field]
  if (entry === undefined || typeof additionalProperties !== 'object') return {}
  if (additionalProperties.type === 'object' && field === 'tags') return {}
  const value = entryValues[field] ?? exampleOf(additionalProperties, '', { ...spot, owner: 'installation' })
  return { [entry]: value }
}

/**
 * The fields to show: in an answer, the required ones and those with an example value; in a request, the required ones,
 * or else those worth showing.
 */
function namesToShow({ properties = {}, required = [] }: Schema, spot: Spot): string[] {
  const names = Object.keys(properties)
  const says = (name: string) => {
    if (omittedFields.has(`${spot.owner}.${name}`)) return false
    const example = exampleOf(properties[name]!, name, spot)
    return example !== name && JSON.stringify(example) !== '{}'
  }
  if (spot.isAnswer) return names.filter((name) => required.includes(name) || says(name))
  const needed = names.filter((name) => required.includes(name))
  if (needed.length > 0) return needed
  const informative = names.filter((name) => informativeFields.has(name) && says(name))
  return informative.length > 0 ? informative : names
}

/** The owner of a field's own fields: `meta` is no resource, so its fields belong to the enclosing owner. */
function ownerWithin(field: string, { owner }: Spot): string {
  if (owner === 'failed-event' && (field === 'event' || field === '')) return owner
  return field === '' || field === 'meta' ? owner : singular(field)
}

function exampleOfText({ format }: Schema, field: string, owner: string): string {
  if (format === 'date-time') return now
  if (field === 'id') return exampleId(owner)
  if (field.endsWith('Id')) return exampleId(field.slice(0, -2))
  return field === '' ? owner : field
}

/** A value that is written for one field may not fit another of the same name. */
function isOfType({ type, nullable, enum: choice, const: only, oneOf }: Schema, value: unknown): boolean {
  if (choice) return choice.includes(value)
  if (only !== undefined || oneOf) return false
  // A schema without a type takes any value.
  if (type === undefined) return true
  if (value === null && nullable) return true
  const types = type === undefined || typeof type === 'string' ? [type] : type
  const own = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
  return types.some((one) => one === own || (one === 'integer' && own === 'number'))
}

function singular(word: string): string {
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`
  return word.endsWith('s') && word !== 'analytics' ? word.slice(0, -1) : word
}
