import { formats } from './formats.ts'
import { canonical } from './canonical.ts'
import type { Evaluation, Keyword } from './evaluation.ts'
import { matches } from './pattern.ts'
import { isObject } from './is-object.ts'
import type { Schema } from './references.ts'

type Numeric = (limit: number, data: number) => boolean

function ofNumbers(words: string, holds: Numeric): Keyword<number> {
  return (evaluation, limit, data) =>
    typeof data !== 'number' || holds(limit, data) || evaluation.fail(`must be ${words} ${limit}`)
}

/** @param limited the keyword that has the limit when this one is only a boolean */
function ofExclusive(words: string, limited: 'maximum' | 'minimum', holds: Numeric): Keyword<number | boolean> {
  const exclusive = ofNumbers(words, holds)
  return (evaluation, value, data, schema) => {
    const limit = value === true ? schema[limited] : value
    return typeof limit !== 'number' || exclusive(evaluation, limit, data, schema)
  }
}

/** For keywords that limit the length of a text, or the number of items or properties. */
function ofSizes(words: string, sizeOf: (data: unknown) => number | undefined, holds: Numeric): Keyword<number> {
  return (evaluation, limit, data) => {
    const size = sizeOf(data)
    if (size === undefined) return true
    evaluation.budget.spend(size >>> 4)
    return holds(limit, size) || evaluation.fail(`must have ${words.replace('#', String(limit))}`)
  }
}

const atLeast: Numeric = (limit, size) => size >= limit
const atMost: Numeric = (limit, size) => size <= limit

const lengthOf = (data: unknown) => (typeof data === 'string' ? characters(data) : undefined)
const itemsOf = (data: unknown) => (Array.isArray(data) ? data.length : undefined)
const propertiesOf = (data: unknown) => (isObject(data) ? Object.keys(data).length : undefined)

/** Counts a surrogate pair as one character. */
function characters(text: string): number {
  let count = text.length
  for (let index = 0; index < text.length - 1; index += 1) {
    if (text.codePointAt(index)! > 0xffff) {
      count -= 1
      index += 1
    }
  }
  return count
}

const pattern: Keyword<string> = (evaluation, source, data) => {
  if (typeof data !== 'string') return true
  const program = evaluation.pattern(source)
  return !program || matches(program, data, evaluation.budget) || evaluation.fail(`must match pattern "${source}"`)
}

const format: Keyword<string> = (evaluation, name, data) => {
  const known = formats.get(name)
  return !known || known(data, evaluation.budget) || evaluation.fail(`must match format "${name}"`)
}

const required: Keyword<string[]> = (evaluation, names, data) => {
  if (!isObject(data)) return true
  evaluation.budget.spend(names.length)
  const missing = names.find((name) => !Object.hasOwn(data, name))
  return missing === undefined || evaluation.fail(`must have required property '${missing}'`)
}

const properties: Keyword<Record<string, Schema>> = (evaluation, schemas, data) => {
  if (!isObject(data)) return true
  for (const name in schemas) {
    evaluation.budget.spend(1)
    if (Object.hasOwn(data, name) && !evaluation.partHolds(schemas[name]!, name, data[name])) return false
  }
  return true
}

const patternProperties: Keyword<Record<string, Schema>> = (evaluation, schemas, data) => {
  if (!isObject(data)) return true
  for (const source in schemas) {
    const program = evaluation.pattern(source)
    if (!program) continue
    for (const name in data) {
      if (!matches(program, name, evaluation.budget)) continue
      if (!evaluation.partHolds(schemas[source]!, name, data[name])) return false
    }
  }
  return true
}

const additionalProperties: Keyword<Schema> = (evaluation, additional, data, schema) => {
  if (!isObject(data) || additional === true) return true
  if (additional === false && evaluation.allowsUndeclared) return true
  const { properties: declared = {}, patternProperties: patterned = {} } = schema as Record<string, object>
  for (const name in data) {
    evaluation.budget.spend(1)
    if (Object.hasOwn(declared, name)) continue
    const isPatterned = Object.keys(patterned).some((source) => {
      const program = evaluation.pattern(source)
      return program && matches(program, name, evaluation.budget)
    })
    if (isPatterned) continue
    if (additional === false) return evaluation.fail(`must not have a field '${name}'`)
    if (!evaluation.partHolds(additional, name, data[name])) return false
  }
  return true
}

const propertyNames: Keyword<Schema> = (evaluation, schema, data) => {
  if (!isObject(data)) return true
  for (const name in data) if (!evaluation.partHolds(schema, name, name)) return false
  return true
}

const dependencies: Keyword<Record<string, Schema | string[]>> = (evaluation, dependents, data, schema) => {
  if (!isObject(data)) return true
  for (const [name, dependent] of Object.entries(dependents)) {
    evaluation.budget.spend(1)
    if (!Object.hasOwn(data, name)) continue
    const holds = Array.isArray(dependent)
      ? required(evaluation, dependent, data, schema)
      : evaluation.holds(dependent, data)
    if (!holds) return false
  }
  return true
}

const items: Keyword<Schema | Schema[]> = (evaluation, schema, data) => {
  if (!Array.isArray(data)) return true
  const ofItem = Array.isArray(schema) ? (index: number) => schema[index] : () => schema
  const count = Array.isArray(schema) ? Math.min(schema.length, data.length) : data.length
  for (let index = 0; index < count; index += 1) {
    if (!evaluation.partHolds(ofItem(index)!, index, data[index])) return false
  }
  return true
}

const additionalItems: Keyword<Schema> = (evaluation, schema, data, { items: list }) => {
  if (!Array.isArray(data) || !Array.isArray(list)) return true
  for (let index = list.length; index < data.length; index += 1) {
    if (schema === false) return evaluation.fail(`must not have more than ${list.length} items`)
    if (!evaluation.partHolds(schema, index, data[index])) return false
  }
  return true
}

const contains: Keyword<Schema> = (evaluation, schema, data) => {
  if (!Array.isArray(data)) return true
  if (data.some((item) => evaluation.trialHolds(schema, item))) return true
  return evaluation.fail('must contain at least 1 valid item')
}

const uniqueItems: Keyword<boolean> = (evaluation, isUnique, data) => {
  if (!isUnique || !Array.isArray(data)) return true
  const seen = new Set(data.map((item) => canonical(item, evaluation.budget)))
  return seen.size === data.length || evaluation.fail('must not have duplicate items')
}

const oneOfValues: Keyword<unknown[]> = (evaluation, values, data) => {
  const text = canonical(data, evaluation.budget)
  if (values.some((value) => isSame(evaluation, value, data, text))) return true
  return evaluation.fail(() => {
    const choice = values.slice(0, 20).map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
    return `must be one of ${choice.join(', ')}${values.length > 20 ? ', …' : ''}`
  })
}

const constant: Keyword<unknown> = (evaluation, value, data) =>
  isSame(evaluation, value, data, canonical(data, evaluation.budget)) ||
  evaluation.fail(() => `must be ${JSON.stringify(value)}`)

function isSame({ budget }: Evaluation, value: unknown, data: unknown, text: string): boolean {
  budget.spend(1)
  if (typeof value !== 'object' || value === null) return value === data
  return typeof data === 'object' && canonical(value, budget) === text
}

const allOf: Keyword<Schema[]> = (evaluation, schemas, data) =>
  schemas.every((schema) => evaluation.holds(schema, data))

const anyOf: Keyword<Schema[]> = (evaluation, schemas, data) => evaluation.countHolding(schemas, data, 1) === 1

const oneOf: Keyword<Schema[]> = (evaluation, schemas, data) => {
  const count = evaluation.countHolding(schemas, data, 2)
  return count < 2 ? count === 1 : evaluation.fail('must match exactly one schema in oneOf')
}

const not: Keyword<Schema> = (evaluation, schema, data) =>
  !evaluation.trialHolds(schema, data) || evaluation.fail('must not match the schema in not')

const condition: Keyword<Schema> = (evaluation, schema, data, { then: consequent, else: alternative }) => {
  const next = evaluation.trialHolds(schema, data) ? consequent : alternative
  return next === undefined || evaluation.holds(next as Schema, data)
}

const reference: Keyword<string> = (evaluation, _address, data, schema) => evaluation.referenceHolds(schema, data)

/** All keywords except `type`, which is checked before them. */
export const keywords: ReadonlyMap<string, Keyword<unknown>> = new Map(
  Object.entries<Keyword<never>>({
    $ref: reference,
    additionalItems,
    additionalProperties,
    allOf,
    anyOf,
    const: constant,
    contains,
    dependencies,
    enum: oneOfValues,
    exclusiveMaximum: ofExclusive('<', 'maximum', (limit, data) => data < limit),
    exclusiveMinimum: ofExclusive('>', 'minimum', (limit, data) => data > limit),
    format,
    if: condition,
    items,
    maxItems: ofSizes('at most # items', itemsOf, atMost),
    maxLength: ofSizes('at most # characters', lengthOf, atMost),
    maxProperties: ofSizes('at most # properties', propertiesOf, atMost),
    maximum: ofNumbers('<=', (limit, data) => data <= limit),
    minItems: ofSizes('at least # items', itemsOf, atLeast),
    minLength: ofSizes('at least # characters', lengthOf, atLeast),
    minProperties: ofSizes('at least # properties', propertiesOf, atLeast),
    minimum: ofNumbers('>=', (limit, data) => data >= limit),
    multipleOf: ofNumbers('a multiple of', (divisor, data) => Number.isInteger(data / divisor)),
    not,
    oneOf,
    pattern,
    patternProperties,
    properties,
    propertyNames,
    required,
    uniqueItems,
  }) as [string, Keyword<unknown>][],
)
