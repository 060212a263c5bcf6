/** How a field of a configuration is entered. `key` is a secret of several lines; `json` is for all that no other kind can show. */
type Kind = 'text' | 'secret' | 'key' | 'number' | 'choice' | 'json'

/** A field of a configuration, from its JSON Schema. */
export interface SchemaField {
  /** The name of the property; empty for a configuration whose schema names no properties. */
  name: string
  label: string
  description: string
  kind: Kind
  /** JSON texts of the values to choose from. */
  choices: string[]
  isRequired: boolean
  /** The JSON text, or the text, of the value that the platform fills in. */
  standard: string
}

/** The text of each field by name. An empty text stands for an absent field. */
export type Texts = Record<string, string>

/** A text that a field's kind does not accept. */
export class FieldError extends Error {
  field: string

  constructor(field: string, message: string) {
    super(message)
    this.name = 'FieldError'
    this.field = field
  }
}

type Values = Record<string, unknown>

/** Keys in the PEM format have several lines, of which a field of one line would keep none apart. */
const keyName = /private[-_ ]?key|certificate|credentials|pem$/i
const secretName = /secret|token|password|passphrase|private|credential|(api|access|signing)[-_ ]?key/i

/**
 * The fields of a configuration, those that are required first, then those that are stored and that the schema does not
 * name: an author may have removed them in a later version, and then they have to be cleared.
 */
export function fieldsOf(schema: Values, stored: Values): SchemaField[] {
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  const isRequired = (name: string) => required.includes(name)
  // The platform does not keep the order of a schema's properties.
  const names = Object.keys(properties).toSorted((a, b) => Number(isRequired(b)) - Number(isRequired(a)))
  if (names.length === 0) return [fieldOf('', { title: 'Configuration' }, false)]
  const others = Object.keys(stored).filter((name) => !Object.hasOwn(properties, name))
  return [
    ...names.map((name) => fieldOf(name, properties[name], isRequired(name))),
    ...others.map((name) => fieldOf(name, {}, false)),
  ]
}

function fieldOf(name: string, given: unknown, isRequired: boolean): SchemaField {
  const schema = isObject(given) ? given : {}
  const { title, description, default: standard } = schema
  const { kind, choices } = kindOf(name, schema)
  return {
    name,
    label: typeof title === 'string' && title !== '' ? title : name,
    description: typeof description === 'string' ? description : '',
    kind,
    choices,
    isRequired,
    standard: standard === undefined || kind === 'secret' || kind === 'key' ? '' : textOf(standard, kind),
  }
}

function kindOf(name: string, schema: Values): Pick<SchemaField, 'kind' | 'choices'> {
  const { type, format, writeOnly, 'x-zui': hints } = schema
  const values = constantsOf(schema)
  if (values) return { kind: 'choice', choices: values.map((value) => JSON.stringify(value)) }
  if (type === 'boolean') return { kind: 'choice', choices: ['true', 'false'] }
  if (type === 'number' || type === 'integer') return { kind: 'number', choices: [] }
  if (type !== 'string') return { kind: 'json', choices: [] }
  if (keyName.test(name)) return { kind: 'key', choices: [] }
  const isMarked = format === 'password' || writeOnly === true || (isObject(hints) && hints['secret'] === true)
  return { kind: isMarked || secretName.test(name) ? 'secret' : 'text', choices: [] }
}

/** The values of an enumeration, or of a union of constants; undefined for other schemas. */
function constantsOf({ enum: values, const: value, anyOf, oneOf }: Values): unknown[] | undefined {
  if (Array.isArray(values)) return values
  if (value !== undefined) return [value]
  const variants = Array.isArray(anyOf) ? anyOf : oneOf
  if (!Array.isArray(variants) || variants.length === 0) return undefined
  const constants = variants.map((variant) => (isObject(variant) ? constantsOf(variant) : undefined))
  return constants.every((each) => each !== undefined) ? constants.flat() : undefined
}

/** The texts of a stored configuration. */
export function toTexts(fields: SchemaField[], stored: Values): Texts {
  const texts = fields.map(({ name, kind }): [string, string] => {
    if (name !== '') return [name, Object.hasOwn(stored, name) ? textOf(stored[name], kind) : '']
    return ['', Object.keys(stored).length > 0 ? textOf(stored, kind) : '']
  })
  return Object.fromEntries(texts)
}

function isTextual(kind: Kind): boolean {
  return kind === 'text' || kind === 'secret' || kind === 'key'
}

function textOf(value: unknown, kind: Kind): string {
  if (isTextual(kind) && typeof value === 'string') return value
  return JSON.stringify(value, null, kind === 'json' ? 2 : undefined)
}

/** The configuration to store. @throws FieldError for a text that is no number or no JSON */
export function toConfiguration(fields: SchemaField[], texts: Texts): Values {
  const filled = fields.filter(({ name }) => (texts[name] ?? '') !== '')
  const values = filled.map((field): [string, unknown] => [field.name, valueOf(field, texts[field.name]!)])
  const [first] = values
  if (first?.[0] !== '') return Object.fromEntries(values)
  if (!isObject(first[1])) throw new FieldError('', 'must be a JSON object')
  return first[1]
}

function valueOf({ name, kind }: SchemaField, text: string): unknown {
  if (isTextual(kind)) return text
  if (kind === 'number') {
    const number = Number(text)
    if (text.trim() === '' || !Number.isFinite(number)) throw new FieldError(name, 'must be a number')
    return number
  }
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw new FieldError(name, 'is not JSON: texts stand in quotation marks, such as "text"')
  }
}

/**
 * The field that the server's refusal of a configuration concerns, and its words without the position.
 *
 * @returns undefined when the refusal concerns something else
 */
export function findRefused(fields: SchemaField[], alias: string, message: string): FieldError | undefined {
  const start = `integrations.${alias}.configuration`
  // The refusals of the platform's own integrations name the field behind a dot or a space.
  const [, problem] = /^(?:: |[. ])([^]+)$/.exec(restAfter(message, start)) ?? []
  if (problem === undefined) return undefined
  const lacking = fields.find(({ name }) => problem === `must have required property '${name}'`)
  if (lacking) return new FieldError(lacking.name, 'is required')
  const unknown = fields.find(({ name }) => problem === `must not have a field '${name}'`)
  if (unknown) return new FieldError(unknown.name, 'is not part of this version: clear it')
  // Of `url` and `url.path`, the longer name is meant where both fit.
  const named = fields.filter(({ name }) => name !== '' && /^[ .]/.test(restAfter(problem, name)))
  const [field] = named.toSorted((a, b) => b.name.length - a.name.length)
  if (!field) return new FieldError('', problem)
  return new FieldError(field.name, restAfter(problem, field.name).replace(/^[ .]/, ''))
}

function restAfter(text: string, start: string): string {
  return text.startsWith(start) ? text.slice(start.length) : ''
}

function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
