import type { ValidateFunction } from 'ajv'
import { LRUCache } from 'lru-cache'
import { ApiError } from './errors.ts'
import { compileForeign, inTime } from './foreign-schema.ts'
import { longestExpiry } from './models/state.ts'
import { describeErrors } from './schema.ts'
import type { Database } from './store/database.ts'
import { findStateDefinition } from './store/state-definitions.ts'
import type { StateName } from './store/states.ts'

interface Declared {
  type: string
  expiry: number | null
  isValid: ValidateFunction | undefined
  /** Set when a validation took too long: until then (milliseconds) it is taken for granted that it would again. */
  refusedUntil: number
}

/** While a state is validated, nothing else happens in the process. */
const longestValidationMilliseconds = 100
const refusalMilliseconds = 60_000

/** What a definition makes of the states of its name. */
export interface StateDefinition {
  /** Milliseconds after which they expire unless something else is said; null for never. */
  expiry: number | null
  /**
   * Gives a payload with the defaults that are declared.
   * @throws ApiError `InvalidDataFormat` when it is not as declared
   */
  complete(payload: Record<string, unknown>): Record<string, unknown>
}

/** Compiling a schema takes milliseconds. The same text means the same, whosever it is. */
const recent = new LRUCache<string, Declared>({ max: 500 })

/** What is declared of a state. Bots need not declare any: what is not declared may be anything. */
export async function stateDefinition(db: Database, of: StateName): Promise<StateDefinition> {
  const text = await findStateDefinition(db, of)
  const declared = text === undefined ? undefined : (recent.get(text) ?? compile(text, of.name))
  if (!declared || declared.type !== of.type) return { expiry: null, complete: (payload) => payload }
  return {
    expiry: declared.expiry,
    complete: (payload) => complete(declared, payload, `The state '${of.name}'`),
  }
}

function complete(declared: Declared, payload: Record<string, unknown>, what: string): Record<string, unknown> {
  const { isValid } = declared
  if (!isValid) return payload
  if (declared.refusedUntil > Date.now()) {
    throw new ApiError('InvalidDataFormat', `${what} took too long to validate: simplify the patterns of its schema`)
  }
  const completed = structuredClone(payload)
  try {
    if (inTime(() => isValid(completed), what, longestValidationMilliseconds)) return completed
  } catch (error) {
    declared.refusedUntil = Date.now() + refusalMilliseconds
    throw error
  }
  throw new ApiError('InvalidDataFormat', `${what} is not as declared: ${describeErrors(isValid)}`)
}

function compile(text: string, name: string): Declared {
  const { type, expiry, schema } = JSON.parse(text) as {
    type: string
    expiry?: number | null
    schema?: Record<string, unknown>
  }
  const declared = {
    type,
    expiry: typeof expiry === 'number' ? Math.min(expiry, longestExpiry) : null,
    isValid: schema && compileForeign(schema, `the schema of the state '${name}'`),
    refusedUntil: 0,
  }
  recent.set(text, declared)
  return declared
}
