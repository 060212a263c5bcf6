import { ApiError } from '../errors.ts'
import { JsonList } from '../json/json-list.ts'
import { compile, describeErrors } from '../schema.ts'

/** A field of a body that is a list of objects and may have many megabytes. */
export interface LargeList {
  field: string
  maxElements: number
  maxElementBytes: number
  /** Of the whole body. */
  maxBytes: number
}

interface ObjectSchema {
  required?: readonly string[]
  properties: Record<string, { items?: object }>
}

/**
 * Makes the check of an input whose list may be a `JsonList`. The list becomes an iterable that parses and checks one
 * element at a time, once.
 *
 * @param schema of the input
 */
export function listCheck(schema: object, { field }: LargeList): (input: unknown) => void {
  const { properties } = schema as ObjectSchema
  const { items = {}, ...list } = properties[field]!
  // Its length is that of the list.
  const isWhole = compile({ ...schema, properties: { ...properties, [field]: list } }, 'body')
  const isElement = compile(items, 'body')

  function* checked(elements: JsonList): Generator {
    let index = 0
    for (const element of parsed(elements, field)) {
      if (!isElement(element)) {
        throw new ApiError('InvalidPayload', describeErrors(isElement, `${field}.${index}`))
      }
      yield element
      index += 1
    }
  }

  return (input) => {
    const given = input as Record<string, unknown>
    const elements = given[field] as JsonList
    given[field] = Array.from({ length: elements.length }, () => ({}))
    if (!isWhole(given)) throw new ApiError('InvalidPayload', describeErrors(isWhole))
    given[field] = checked(elements)
  }
}

function* parsed(elements: JsonList, field: string): Generator {
  try {
    yield* elements.drain()
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new ApiError('InvalidPayload', `The body is not valid JSON: in ${field}: ${error.message}`)
  }
}
