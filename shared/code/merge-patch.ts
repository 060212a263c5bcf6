import { ApiError } from '../errors.ts'
import { storedLength } from '../json/exponents.ts'
import { isRecord } from '../models/payload.ts'

/** The parts of a JSON Schema that determine how a change is applied. */
interface Shape {
  type?: string
  enum?: readonly unknown[]
  properties?: Record<string, Shape>
  additionalProperties?: boolean | Shape
}

/** Maximum length of a definition, in characters of its JSON. */
const longestDefinition = 1024 * 1024

/**
 * Applies a change to a definition. Fields that the schema declares and entries of maps are merged one by one; null
 * removes a field or an entry; every other value (a list, a JSON Schema within the definition) is replaced whole.
 *
 * @param schema of the definition
 * @param change valid by that schema
 * @returns the changed definition; the given one is not modified
 * @throws ApiError `LimitExceeded` when the definition has grown too long
 */
export function mergePatch(
  schema: Shape,
  definition: Record<string, unknown>,
  change: Record<string, unknown>,
): Record<string, unknown> {
  const changed = merge(schema, definition, change) as Record<string, unknown>
  assertLength(changed)
  return changed
}

/** @throws ApiError `LimitExceeded` when a definition is too long */
export function assertLength(definition: object): void {
  if (storedLength(JSON.stringify(definition)) <= longestDefinition) return
  throw new ApiError('LimitExceeded', 'The definition is longer than 1 MB: shorten its schemas')
}

function merge(schema: Shape, before: unknown, change: unknown): unknown {
  const entry = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined
  if ((!schema.properties && !entry) || !isRecord(change)) return change
  const merged = new Map(Object.entries(isRecord(before) ? before : {}))
  for (const [name, value] of Object.entries(change)) {
    const inner = schema.properties?.[name] ?? entry
    if (value === null) merged.delete(name)
    else if (value !== undefined && inner) merged.set(name, merge(inner, merged.get(name), value))
  }
  return Object.fromEntries(merged)
}
