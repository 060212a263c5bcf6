import { LRUCache } from 'lru-cache'
import { UntrustedSchema } from '../code/untrusted-schema.ts'
import { ApiError } from '../errors.ts'
import { isRecord } from '../models/payload.ts'
import { longestExpiry } from '../models/state.ts'
import type { Database } from '../store/database.ts'
import { findStateDefinition } from '../store/state-definitions.ts'
import type { StateName } from '../store/states.ts'

interface Declared {
  type: string
  expiry: number | null
  schema: UntrustedSchema | undefined
  /** The names of the fields that the schema declares. */
  fields: string[]
}

/** The declared rules for the states of one name. */
export interface StateDefinition {
  /** Default expiry in milliseconds; null for none. */
  expiry: number | null
  /**
   * Validates a payload and adds the declared defaults.
   * @throws ApiError `InvalidDataFormat` when the payload does not match the declared schema
   */
  complete(payload: Record<string, unknown>): Record<string, unknown>
  /** The payload before one is set; undefined unless the schema has a default for each field. */
  initial(): Record<string, unknown> | undefined
}

/** Keyed by the text of the definition, so bots with equal definitions share an entry. */
const recent = new LRUCache<string, Declared>({
  max: 200,
  maxSize: 8 * 1024 * 1024,
  sizeCalculation: (_declared, text) => text.length,
})

/** Finds the definition of a state. Bots need not declare their states: an undeclared one accepts any payload. */
export async function stateDefinition(db: Database, of: StateName): Promise<StateDefinition> {
  const text = await findStateDefinition(db, of)
  const declared = text === undefined ? undefined : (recent.get(text) ?? read(text, of.name))
  if (!declared || declared.type !== of.type) {
    return { expiry: null, complete: (payload) => payload, initial: () => undefined }
  }
  return {
    expiry: declared.expiry,
    complete: (payload) => complete(declared, payload, of.name),
    initial: () => initialOf(declared),
  }
}

function initialOf({ fields, schema }: Declared): Record<string, unknown> | undefined {
  if (!schema || fields.length === 0) return undefined
  const validated = schema.validate<Record<string, unknown>>({})
  if (!('completed' in validated)) return undefined
  return fields.every((name) => Object.hasOwn(validated.completed, name)) ? validated.completed : undefined
}

function complete({ schema }: Declared, payload: Record<string, unknown>, name: string): Record<string, unknown> {
  if (!schema) return payload
  const validated = schema.validateOpen(payload)
  if ('completed' in validated) return validated.completed
  throw new ApiError(
    'InvalidDataFormat',
    `The state '${name}' does not match its declared schema: ${validated.problem}`,
  )
}

function read(text: string, name: string): Declared {
  const { type, expiry, schema } = JSON.parse(text) as {
    type: string
    expiry?: number | null
    schema?: Record<string, unknown>
  }
  const declared = {
    type,
    expiry: typeof expiry === 'number' ? Math.min(expiry, longestExpiry) : null,
    schema: schema && new UntrustedSchema(schema, `the schema of the state '${name}'`),
    fields: isRecord(schema?.['properties']) ? Object.keys(schema['properties']) : [],
  }
  recent.set(text, declared)
  return declared
}
