import metaSchema from 'ajv/dist/refs/json-schema-draft-07.json' with { type: 'json' }
import { formProblem } from './form.ts'
import { isObject } from './is-object.ts'

export type Schema = boolean | SchemaObject
export type SchemaObject = Record<string, unknown>

/** Keywords that apply further schemas, to the same data or to parts of it. */
const schemaKeywords = [
  'additionalItems',
  'additionalProperties',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
]
const listKeywords = ['allOf', 'anyOf', 'items', 'oneOf']
const mapKeywords = ['$defs', 'definitions', 'dependencies', 'patternProperties', 'properties']

/** The direct subschemas of a schema, each with its path. */
export function* subschemas(schema: SchemaObject): Generator<[path: string[], schema: SchemaObject]> {
  for (const keyword of schemaKeywords) {
    const inner = schema[keyword]
    if (isObject(inner)) yield [[keyword], inner]
  }
  for (const keyword of listKeywords) {
    const list = schema[keyword]
    if (!Array.isArray(list)) continue
    for (const [index, inner] of list.entries()) if (isObject(inner)) yield [[keyword, String(index)], inner]
  }
  for (const keyword of mapKeywords) {
    const map = schema[keyword]
    if (!isObject(map)) continue
    for (const [name, inner] of Object.entries(map)) if (isObject(inner)) yield [[keyword, name], inner]
  }
}

/** The path to a position in a schema, as a linked list: many paths are walked and few are reported. */
export interface Trail {
  from: Trail | undefined
  steps: string[]
}

export function pathOf(trail: Trail | undefined): string[] {
  const parts: string[][] = []
  for (let one = trail; one; one = one.from) parts.push(one.steps)
  return parts.toReversed().flat()
}

const rootAddress = 'https://schema.invalid/'
const metaAddress = 'http://json-schema.org/draft-07/schema'

/** A schema with a keyword whose value has the wrong form. */
export class SchemaFormError extends Error {
  override name = 'SchemaFormError'
  readonly path: string[]

  constructor(path: string[], problem: string) {
    super(problem)
    this.path = path
  }
}

/** Resolves the references within one schema. */
export class References {
  /** The base address of each schema, against which its references are resolved. */
  private readonly bases = new Map<SchemaObject, string>()
  private readonly byAddress = new Map<string, Schema>()
  private readonly resolved = new Map<SchemaObject, Schema | undefined>()

  /** @throws SchemaFormError */
  constructor(root: SchemaObject) {
    this.byAddress.set(rootAddress, root)
    this.add(root, rootAddress)
  }

  /**
   * Resolves the `$ref` of a schema; undefined when the target is not in the root schema.
   * @throws SchemaFormError when the target is not a schema
   */
  resolve(schema: SchemaObject): Schema | undefined {
    if (this.resolved.has(schema)) return this.resolved.get(schema)
    const target = this.find(schema['$ref'] as string, this.bases.get(schema) ?? rootAddress)
    this.resolved.set(schema, target)
    return target
  }

  private find(reference: string, base: string): Schema | undefined {
    const address = resolveAddress(reference, base)
    if (address === undefined) return undefined
    const known = this.byAddress.get(address)
    if (known !== undefined) return known
    const [resource = '', fragment = ''] = address.split('#')
    if (resource === metaAddress && !this.byAddress.has(resource)) this.add(metaSchema, metaAddress)
    const start = this.byAddress.get(resource)
    if (fragment === '' || start === undefined) return start
    if (!fragment.startsWith('/')) return undefined
    const target = followPointer(start, fragment)
    if (target === undefined || typeof target === 'boolean') return target
    if (!isObject(target)) throw new SchemaFormError(fragment.slice(1).split('/'), 'must be a schema')
    if (!this.bases.has(target)) this.add(target, resource, fragment.slice(1).split('/'))
    return target
  }

  /** Registers a schema and its subschemas, after checking their form. */
  private add(root: SchemaObject, address: string, start: string[] = []): void {
    const waiting: [SchemaObject, string, Trail][] = [[root, address, { from: undefined, steps: start }]]
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const [schema, outer, trail] = next
      const wrong = formProblem(schema)
      if (wrong) throw new SchemaFormError([...pathOf(trail), wrong.keyword], wrong.problem)
      const base = this.addNames(schema, outer)
      this.bases.set(schema, base)
      for (const [steps, inner] of subschemas(schema)) waiting.push([inner, base, { from: trail, steps }])
    }
  }

  /** @returns the base address of the subschemas */
  private addNames(schema: SchemaObject, base: string): string {
    const { $id: id, $anchor: anchor, $ref: reference } = schema
    if (typeof anchor === 'string') this.byAddress.set(`${base}#${anchor}`, schema)
    if (typeof id !== 'string' || reference !== undefined) return base
    const address = resolveAddress(id, base)
    if (address === undefined) return base
    const [resource = '', fragment = ''] = address.split('#')
    this.byAddress.set(fragment === '' ? resource : address, schema)
    return resource
  }
}

function resolveAddress(reference: string, base: string): string | undefined {
  if (reference.startsWith('#')) return base + reference
  return URL.parse(reference, base)?.href
}

function followPointer(start: Schema, pointer: string): unknown {
  let value: unknown = start
  for (const part of pointer.slice(1).split('/')) {
    if (typeof value !== 'object' || value === null) return undefined
    const key = decode(part).replaceAll('~1', '/').replaceAll('~0', '~')
    if (!Object.hasOwn(value, key)) return undefined
    value = (value as Record<string, unknown>)[key]
  }
  return value
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
