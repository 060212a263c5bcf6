import { ApiError } from '../errors.ts'
import { jsonSchema } from '../models/definition.ts'
import { isObject } from './json-schema/is-object.ts'
import { PatternError } from './json-schema/pattern-program.ts'
import {
  pathOf,
  SchemaFormError,
  subschemas,
  type References,
  type Schema,
  type SchemaObject,
  type Trail,
} from './json-schema/references.ts'
import { invalidSchema, Patterns, pointer, UntrustedSchema } from './untrusted-schema.ts'

/** Upper bound of a schema, in characters of its JSON. The longest in the public catalogue has 34,957. */
const maxSchemaLength = 100_000

/** Upper bound of the levels of a schema's JSON. The deepest in the public catalogue has 21. */
const maxSchemaDepth = 100

/** Upper bound of objects and lists in all schemas of one upload. The maximum in the public catalogue is 2,461. */
const maxNodes = 20_000

/** Upper bound of the patterns in one schema. The maximum in the public catalogue is 12. */
const maxPatterns = 100

/** Counters over all schemas of one upload. */
interface Upload {
  patterns: Patterns
  nodes: number
}

/**
 * Refuses a JSON Schema that cannot be run, or not within bounds, before anything is stored. Unknown keywords and
 * formats are ignored, since published tools add their own.
 *
 * @param name of its position in the request
 * @throws ApiError `InvalidJsonSchema` or `LimitExceeded`, with the position in the schema
 */
function acceptSchema(schema: SchemaObject, name: string, upload: Upload): void {
  assertBounded(schema, name, upload)
  const { references } = new UntrustedSchema(schema, name)
  const trails = new Map<SchemaObject, Trail>()
  const appliedBy = new Map<SchemaObject, SchemaObject[]>()
  const waiting: [SchemaObject, Trail][] = [[schema, { from: undefined, steps: [] }]]
  let count = 0
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [one, trail] = next
    if (trails.has(one)) continue
    trails.set(one, trail)
    count += assertPatterns(one, trail, name, upload.patterns)
    if (count > maxPatterns) throw beyond(name, trail, `has more than ${maxPatterns} patterns up to here`)
    const target = assertReference(one, trail, name, references)
    const applied = target ? [target] : []
    if (target) waiting.push([target, { from: trail, steps: ['$ref'] }])
    for (const [steps, inner] of subschemas(one)) {
      waiting.push([inner, { from: trail, steps }])
      if (appliedInPlace.has(steps[0]!)) applied.push(inner)
    }
    appliedBy.set(one, applied)
  }
  const loop = findLoop(appliedBy)
  if (loop) throw invalidSchema(name, pathOf(trails.get(loop)), 'refers to itself without a step into the data')
}

/** Keywords whose subschemas apply to the same data. */
const appliedInPlace = new Set(['allOf', 'anyOf', 'dependencies', 'else', 'if', 'not', 'oneOf', 'then'])

/** @throws ApiError `LimitExceeded` when the schema is too long, too deep or has too many parts to be examined */
function assertBounded(schema: SchemaObject, name: string, upload: Upload): void {
  const waiting: [value: unknown, trail: Trail, depth: number][] = [[schema, { from: undefined, steps: [] }, 1]]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [value, trail, depth] = next
    if (typeof value !== 'object' || value === null) continue
    upload.nodes += 1
    if (upload.nodes > maxNodes) {
      throw beyond(name, trail, `exceeds the ${maxNodes} objects and lists that the schemas of an upload may have`)
    }
    if (depth > maxSchemaDepth) throw beyond(name, trail, `is nested more than ${maxSchemaDepth} levels deep`)
    for (const key in value) {
      waiting.push([(value as SchemaObject)[key], { from: trail, steps: [key] }, depth + 1])
    }
  }
  const { length } = JSON.stringify(schema)
  if (length <= maxSchemaLength) return
  throw new ApiError('LimitExceeded', `${name} is longer than ${maxSchemaLength} characters: shorten it`)
}

/** @returns the number of patterns directly in a schema, without its subschemas */
function assertPatterns({ pattern, patternProperties }: SchemaObject, trail: Trail, name: string, patterns: Patterns) {
  const found: [steps: string[], source: string][] = []
  if (typeof pattern === 'string') found.push([['pattern'], pattern])
  if (isObject(patternProperties)) {
    for (const source in patternProperties) found.push([['patternProperties', source], source])
  }
  if (found.length > maxPatterns) throw beyond(name, trail, `has more than ${maxPatterns} patterns`)
  for (const [steps, source] of found) {
    const program = patterns.compile(source)
    if (program instanceof PatternError) throw invalidSchema(name, [...pathOf(trail), ...steps], program.message)
  }
  return found.length
}

/** @returns the schema that `$ref` resolves to; undefined for a boolean one, or without `$ref` */
function assertReference(
  schema: SchemaObject,
  trail: Trail,
  name: string,
  references: References,
): SchemaObject | undefined {
  const reference = schema['$ref'] as string | undefined
  if (reference === undefined) return undefined
  const target = resolve(references, schema, name)
  if (target === undefined) {
    throw invalidSchema(name, [...pathOf(trail), '$ref'], `refers to '${reference}', which is not in the schema`)
  }
  return isObject(target) ? target : undefined
}

function resolve(references: References, schema: SchemaObject, name: string): Schema | undefined {
  try {
    return references.resolve(schema)
  } catch (error) {
    throw error instanceof SchemaFormError ? invalidSchema(name, error.path, error.message) : error
  }
}

/** @returns a schema that applies itself to the same data, directly or through others */
function findLoop(appliedBy: Map<SchemaObject, SchemaObject[]>): SchemaObject | undefined {
  const done = new Set<SchemaObject>()
  const entered = new Set<SchemaObject>()
  for (const start of appliedBy.keys()) {
    const waiting = [start]
    for (let schema = waiting.at(-1); schema; schema = waiting.at(-1)) {
      if (done.has(schema) || entered.has(schema)) {
        waiting.pop()
        entered.delete(schema)
        done.add(schema)
        continue
      }
      entered.add(schema)
      for (const next of appliedBy.get(schema) ?? []) {
        if (entered.has(next)) return next
        if (!done.has(next)) waiting.push(next)
      }
    }
  }
  return undefined
}

function beyond(name: string, trail: Trail, problem: string): ApiError {
  return new ApiError('LimitExceeded', `${name}: ${pointer(pathOf(trail))} ${problem}: simplify the schema`)
}

/** The parts of a definition's schema that locate the JSON Schemas in a definition. */
interface Shape {
  type?: string
  enum?: readonly unknown[]
  properties?: Record<string, Shape>
  additionalProperties?: boolean | Shape
}

/**
 * Refuses a change of a definition when a JSON Schema in it is not acceptable. Stored schemas are not checked again.
 *
 * @param shape of the definition, in which `jsonSchema` stands for a JSON Schema
 * @param change valid by that shape, and no longer than a definition may be
 * @throws ApiError `InvalidJsonSchema` or `LimitExceeded`, with the schema's name and the position in it
 */
export function acceptSchemas(shape: Shape, change: Record<string, unknown>): void {
  forEachSchema(shape, change, acceptSchema)
}

/**
 * As `acceptSchemas`, for schemas that only describe: they are never run, and their references name entities of other
 * definitions. Only their size is bounded.
 *
 * @throws ApiError `LimitExceeded`
 */
export function boundSchemas(shape: Shape, change: Record<string, unknown>): void {
  forEachSchema(shape, change, assertBounded)
}

function forEachSchema(
  shape: Shape,
  change: Record<string, unknown>,
  accept: (schema: SchemaObject, name: string, upload: Upload) => void,
): void {
  const upload: Upload = { patterns: new Patterns(), nodes: 0 }
  const visit = (shape: Shape, value: unknown, path: string[]): void => {
    if (!isObject(value)) return
    if (shape === jsonSchema) return accept(value, path.join('.'), upload)
    const { properties = {}, additionalProperties: entry } = shape
    for (const [name, inner] of Object.entries(value)) {
      const declared = Object.hasOwn(properties, name) ? properties[name] : entry
      if (typeof declared === 'object') visit(declared, inner, [...path, name])
    }
  }
  visit(shape, change, [])
}
