import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import type { FromSchema, JSONSchema } from 'json-schema-to-ts'

/** The TypeScript type that a JSON Schema literal describes. The only place that names the inference library. */
export type Infer<S> = S extends JSONSchema ? FromSchema<S> : never

/** Names of properties that are not optional in a type. */
type Names<Properties> = readonly (keyof Properties & string)[]

/** The JSON Schema of an object without other fields than these. */
interface ClosedObject<Required, Optional> {
  readonly type: 'object'
  readonly additionalProperties: false
  readonly required: Names<Required>
  readonly properties: Required & Optional
}

/** The schema of an object that has all fields of the first kind, may have those of the second, and no others. */
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
// makes the message name the variant's own fault rather than list how every variant failed.
const options = { verbose: true, useDefaults: true, removeAdditional: true, discriminator: true } as const

/** Where data comes from decides how it is read. */
const validators = {
  /** A JSON body is taken at its word. */
  body: withFormats(new Ajv(options)),
  /** Likewise, and what is unknown is refused. */
  closedBody: withFormats(new Ajv({ ...options, removeAdditional: false })),
  /** A path or a query can only carry strings, so they are coerced. */
  query: withFormats(new Ajv({ ...options, coerceTypes: 'array' })),
  /** Likewise; and it is short and nobody's attack, so every problem is reported and not just the first. */
  environment: withFormats(new Ajv({ ...options, coerceTypes: true, allErrors: true })),
}

function withFormats(ajv: Ajv): Ajv {
  addFormats.default(ajv, ['date-time'])
  const isTime = ajv.formats['date-time'] as { validate(text: string): boolean }
  return ajv.addFormat('date-time', (text: string) => isTime.validate(text) && isStorable(Date.parse(text)))
}

const firstTime = Date.parse('0001-01-01T00:00:00Z')
const lastTime = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * ISO 8601 has leap seconds, and `Date` has none; PostgreSQL has no year 0; and what is in another year in UTC is written
 * with more digits than PostgreSQL reads.
 */
function isStorable(milliseconds: number): boolean {
  return milliseconds >= firstTime && milliseconds <= lastTime
}

/**
 * Compiles a schema into a type guard.
 *
 * @param schema a JSON Schema literal
 */
export function compile<S extends object>(schema: S, from: keyof typeof validators): ValidateFunction<Infer<S>> {
  return validators[from].compile<Infer<S>>(schema)
}

/** Says in words what the last failed validation found, for instance `payload.text must be string`. */
export function describeErrors(validate: ValidateFunction): string {
  const problems = (validate.errors ?? []).map((error) => `${dotted(error.instancePath)} ${problemOf(error)}`.trim())
  return [...new Set(problems)].join('; ')
}

/** `/payload/items/0` as an author would write it: `payload.items.0`. */
function dotted(pointer: string): string {
  return pointer.slice(1).replaceAll('/', '.')
}

function problemOf({ keyword, message, params, parentSchema }: ErrorObject): string {
  if (keyword === 'enum') return `must be one of ${(params['allowedValues'] as unknown[]).map(String).join(', ')}`
  if (keyword === 'additionalProperties') return `must not have a field '${params['additionalProperty']}'`
  if (keyword === 'format' && params['format'] === 'date-time') {
    return 'must be a time of the years 1 to 9999, as 2026-11-22T10:00:00Z is (format "date-time")'
  }
  if (keyword !== 'discriminator') return message ?? 'is not valid'
  const variants = (parentSchema?.['oneOf'] ?? []) as { properties: { type: { const: string } } }[]
  return `has a ${params['tag']} that is not one of ${variants.map(({ properties }) => properties.type.const).join(', ')}`
}
