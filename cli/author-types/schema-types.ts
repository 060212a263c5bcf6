import type { Schema } from '#shared/openapi/schemas.ts'

/** A schema as `SchemaPublisher` writes it: a named schema is a `$ref`. */
type Published = Schema & { $ref?: string }

/** The name of the type of any JSON object in the hand-written part of the types. */
const anyObject = 'JsonObject'

/**
 * The TypeScript type that a published schema describes.
 *
 * @param nameOf maps the name of an OpenAPI component to its name in TypeScript
 */
export function typeOf(schema: Published, nameOf: (component: string) => string): string {
  const { $ref, type, enum: choice, const: only, oneOf, items, properties, additionalProperties } = schema
  const inner = (one: Schema) => typeOf(one, nameOf)
  if ($ref !== undefined) return nameOf($ref.slice($ref.lastIndexOf('/') + 1))
  if (only !== undefined) return literal(only)
  if (choice) return choice.map(literal).join(' | ')
  if (oneOf) return oneOf.map(inner).join(' | ')
  if (typeof type === 'object') return type.map((one) => inner({ ...schema, type: one })).join(' | ')
  switch (type) {
    case 'integer':
      return 'number'
    case 'array':
      return items ? arrayOf(inner(items)) : 'unknown[]'
    case 'object':
      if (properties && Object.keys(properties).length > 0) return `{ ${fieldsOf(schema, nameOf)} }`
      if (typeof additionalProperties === 'object') return `Record<string, ${inner(additionalProperties)}>`
      return properties && additionalProperties === false ? 'Record<string, never>' : anyObject
    case undefined:
      return 'any'
    default:
      return type
  }
}

/** The fields of an object's type, each with its description. */
export function fieldsOf(
  { properties = {}, required = [], additionalProperties }: Schema,
  nameOf: (component: string) => string,
): string {
  const fields = Object.entries(properties).map(([name, schema]) => {
    const optional = required.includes(name) ? '' : '?'
    return `${comment(schema.description)}${nameOfField(name)}${optional}: ${typeOf(schema, nameOf)}`
  })
  // The further fields of a row are its columns, of any type.
  return [...fields, ...(additionalProperties === true ? ['[column: string]: any'] : [])].join('\n')
}

/** Fields that are headers have names with dashes. */
function nameOfField(name: string): string {
  return /^\w+$/.test(name) ? name : literal(name)
}

/** A doc comment, which editors show; an empty string when there is no text. */
export function comment(text: string | undefined): string {
  return text === undefined ? '' : `/** ${text.replaceAll('*/', '* /')} */\n`
}

function arrayOf(element: string): string {
  return /^\w+$/.test(element) ? `${element}[]` : `Array<${element}>`
}

function literal(value: unknown): string {
  return JSON.stringify(value)
}
