import { isObject } from './is-object.ts'

/** A check whether the value of a keyword has the form that JSON Schema specifies. */
type Form = [expected: string, has: (value: unknown) => boolean]

const types = new Set<unknown>(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'])

const isSchema = (value: unknown) => typeof value === 'boolean' || isObject(value)
const isList = (value: unknown, isItem: (item: unknown) => boolean) => Array.isArray(value) && value.every(isItem)
const isText = (value: unknown) => typeof value === 'string'
const isTexts = (value: unknown) => isList(value, isText)
const isMap = (value: unknown, isEntry: (entry: unknown) => boolean) =>
  isObject(value) && Object.values(value).every(isEntry)

const text: Form = ['a string', isText]
const flag: Form = ['a boolean', (value) => typeof value === 'boolean']
const number: Form = ['a number', (value) => typeof value === 'number']
/** The value true, as in OpenAPI 3.0, makes `maximum` or `minimum` exclusive. */
const exclusive: Form = ['a number', (value) => typeof value === 'number' || typeof value === 'boolean']
const size: Form = ['an integer of at least 0', (value) => Number.isInteger(value) && (value as number) >= 0]
const schema: Form = ['a schema', isSchema]
const schemas: Form = ['a list of schemas', (value) => isList(value, isSchema)]
const schemaMap: Form = ['an object of schemas', (value) => isMap(value, isSchema)]
const texts: Form = ['a list of strings', isTexts]

const forms = new Map<string, Form>([
  ['then', schema] as [string, Form],
  ...Object.entries<Form>({
    $anchor: text,
    $defs: schemaMap,
    $id: text,
    $ref: text,
    additionalItems: schema,
    additionalProperties: schema,
    allOf: schemas,
    anyOf: schemas,
    contains: schema,
    definitions: schemaMap,
    dependencies: [
      'an object of schemas or lists of strings',
      (value) => isMap(value, (one) => isSchema(one) || isTexts(one)),
    ],
    else: schema,
    enum: ['a list', Array.isArray],
    exclusiveMaximum: exclusive,
    exclusiveMinimum: exclusive,
    format: text,
    if: schema,
    items: ['a schema or a list of schemas', (value) => isSchema(value) || isList(value, isSchema)],
    maxItems: size,
    maxLength: size,
    maxProperties: size,
    maximum: number,
    minItems: size,
    minLength: size,
    minProperties: size,
    minimum: number,
    multipleOf: ['a number greater than 0', (value) => typeof value === 'number' && value > 0],
    not: schema,
    oneOf: schemas,
    pattern: text,
    patternProperties: schemaMap,
    properties: schemaMap,
    propertyNames: schema,
    required: texts,
    type: [
      `one of ${[...types].join(', ')}, or a list of them`,
      (value) => types.has(value) || isList(value, (one) => types.has(one)),
    ],
    uniqueItems: flag,
  }),
])

/** The problem with the keywords of a schema; undefined for none. Subschemas are not checked. */
export function formProblem(value: Record<string, unknown>): { keyword: string; problem: string } | undefined {
  for (const keyword in value) {
    const form = forms.get(keyword)
    if (form && !form[1](value[keyword])) return { keyword, problem: `must be ${form[0]}` }
  }
  return undefined
}
