import { Ajv, str, type ErrorObject, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import type { FromSchema, JSONSchema } from 'json-schema-to-ts'

/** The TypeScript type of a JSON Schema literal. Only this file names the inference library. */
export type Infer<S> = S extends JSONSchema ? FromSchema<S> : never

/** Names of properties that are not optional in a type. */
type Names<Properties> = readonly (keyof Properties & string)[]

/** The JSON Schema of an object without further fields. */
interface ClosedObject<Required, Optional> {
  readonly type: 'object'
  readonly additionalProperties: false
  readonly required: Names<Required>
  readonly properties: Required & Optional
}

/** The schema of an object that has all required fields, may have the optional ones, and has no others. */
export function closedObject<const Required extends object, const Optional extends object = {}>(
  required: Required,
  optional?: Optional,
): ClosedObject<Required, Optional> {
  return {
    type: 'object',
    additionalProperties: false,
    required: Object.keys(required) as unknown as Names<Required>,
    properties: { ...required, ...optional } as Required & Optional,
  }
}

// Unknown top-level fields are dropped, not refused: clients of other versions send whole objects. `discriminator`
// makes the message name the variant's own fault rather than list how every variant failed. The schemas are literals of
// this code base, so a test validates them: at the start of a process that would take 0.1 s. Ajv's optimizer of the code
// it generates takes half of the compilation (14 ms instead of 7 for a schema of usual size, at the first request of each
// operation), and V8 runs the code as fast without it.
const options = {
  verbose: true,
  useDefaults: true,
  removeAdditional: true,
  discriminator: true,
  validateSchema: false,
  code: { optimize: false },
} as const

/** Validators by the source of the data. */
const validators = {
  /** A JSON body: values are not coerced. */
  body: withFormats(new Ajv(options)),
  /** As `body`, and unknown fields are refused. */
  closedBody: withFormats(new Ajv({ ...options, removeAdditional: false })),
  /** Paths and queries carry only strings, so values are coerced. */
  query: withFormats(new Ajv({ ...options, coerceTypes: 'array' })),
  /** As `query`. The environment is short and trusted, so all problems are reported and not just the first. */
  environment: withFormats(new Ajv({ ...options, coerceTypes: true, allErrors: true })),
}

function withFormats(ajv: Ajv): Ajv {
  addFormats.default(ajv, ['date-time'])
  ajv.removeKeyword('maxLength').addKeyword({
    keyword: 'maxLength',
    type: 'string',
    schemaType: 'number',
    validate: (limit: number, text: string) => hasAtMost(limit, text),
    error: { message: ({ schemaCode }) => str`must NOT have more than ${schemaCode} characters` },
  })
  const isTime = ajv.formats['date-time'] as { validate(text: string): boolean }
  return ajv.addFormat('date-time', (text: string) => isTime.validate(text) && isStorable(Date.parse(text)))
}

/** From here on, `maxLength` counts UTF-16 units: counting the characters of 20 MB of code stops the event loop for 0.2 s. */
const maxCharacters = 1_000_000

/** Whether a text has at most this many characters, which are counted only if the number of units leaves it open. */
function hasAtMost(limit: number, text: string): boolean {
  if (text.length <= limit) return true
  if (limit > maxCharacters || text.length > 2 * limit) return false
  return Array.from(text).length <= limit
}

const firstTime = Date.parse('0001-01-01T00:00:00Z')
const lastTime = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * ISO 8601 has leap seconds, which `Date` lacks; PostgreSQL has no year 0; and a time whose year differs in UTC is
 * written with more digits than PostgreSQL accepts.
 */
function isStorable(milliseconds: number): boolean {
  return milliseconds >= firstTime && milliseconds <= lastTime
}

/** A type guard that keeps the problems which its last call found. */
export interface Validator<T> {
  (value: unknown): value is T
  errors?: ErrorObject[] | null | undefined
}

/**
 * Compiles a schema into a type guard, at its first call: most schemas of a process are never used.
 *
 * @param schema a JSON Schema literal
 */
export function compile<S extends object>(schema: S, from: keyof typeof validators): Validator<Infer<S>> {
  let compiled: ValidateFunction<Infer<S>> | undefined
  const validate: Validator<Infer<S>> = (value): value is Infer<S> => {
    compiled ??= validators[from].compile<Infer<S>>(schema)
    const isValid = compiled(value)
    validate.errors = compiled.errors
    return isValid
  }
  return validate
}

/**
 * Describes the problems that the last validation found, for instance `payload.text must be string`.
 *
 * @param at the path of the validated value in the whole
 */
export function describeErrors(validate: Validator<unknown>, at = ''): string {
  const problems = (validate.errors ?? []).map((error) => {
    const path = [at, dotted(error.instancePath)].filter(Boolean).join('.')
    return `${path} ${describeProblem(error)}`.trim()
  })
  return [...new Set(problems)].join('; ')
}

/** A JSON pointer in dotted notation: `/payload/items/0` as `payload.items.0`. */
function dotted(pointer: string): string {
  return pointer.slice(1).replaceAll('/', '.')
}

/** A longer pattern says less than the description beside it. */
const maxLegiblePattern = 60

/** Describes one problem, for instance `must be string`. */
export function describeProblem({ keyword, message, params, parentSchema }: ErrorObject): string {
  if (keyword === 'enum') return `must be one of ${(params['allowedValues'] as unknown[]).map(String).join(', ')}`
  if (keyword === 'additionalProperties') return `must not have a field '${params['additionalProperty']}'`
  if (keyword === 'format' && params['format'] === 'date-time') {
    return 'must be a time of the years 1 to 9999, as 2026-11-22T10:00:00Z is (format "date-time")'
  }
  if (keyword === 'pattern' && typeof parentSchema?.['description'] === 'string') {
    const isLegible = String(params['pattern']).length <= maxLegiblePattern
    const words = parentSchema['description'].replace(/\.$/, '')
    return `${isLegible ? message : 'has another form than it must have'}: ${words}`
  }
  if (keyword !== 'discriminator') return message ?? 'is not valid'
  const variants = (parentSchema?.['oneOf'] ?? []) as { properties: { type: { const: string } } }[]
  return `has a ${params['tag']} that is not one of ${variants.map(({ properties }) => properties.type.const).join(', ')}`
}
