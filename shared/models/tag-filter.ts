import { ApiError } from '../errors.ts'
import { isRecord } from './payload.ts'

/**
 * The filter of files by tags: each named tag has to match. A value is equality with a text, or with one of several; an
 * object has the operators `not`, `in` and `exists`.
 */

/** The condition on one tag; each part that is there has to hold. */
export interface TagCondition {
  tag: string
  /** Its value is one of these. */
  anyOf?: string[]
  /** Or another tag is one of its values. */
  or?: { tag: string; anyOf: string[] }
  /** It is absent, or its value is none of these. */
  noneOf?: string[]
  exists?: boolean
}

export const tagOperators = ['not', 'in', 'exists'] as const

/** The filter in the input of an operation, after `nestTagQuery`. */
export const tagFilter = {
  type: 'object',
  description:
    'Each tag has to match: a value, one of several in an array, or an object with `not`, `in` (a value or an array each) ' +
    'and `exists` (true or false).',
} as const

const maxTags = 50
const maxValues = 100
const maxLength = 1000

/**
 * Reads a filter.
 * @throws ApiError `InvalidQuery` when it has an unknown operator, too many conditions, or values that are no text
 */
export function toTagConditions(filter: Record<string, unknown> = {}): TagCondition[] {
  const entries = Object.entries(filter)
  if (entries.length > maxTags) throw invalid(`A filter may name ${maxTags} tags, not ${entries.length}`)
  return entries.map(([tag, value]) => {
    if (tag === '' || tag.length > maxLength) throw invalid('The name of a tag has 1 to 1000 characters')
    return isRecord(value) ? toCondition(tag, value) : { tag, anyOf: toValues(tag, value) }
  })
}

function toCondition(tag: string, { not, in: anyOf, exists, ...unknown }: Record<string, unknown>): TagCondition {
  const [operator] = Object.keys(unknown)
  if (operator !== undefined) {
    throw invalid(`The operator '${operator.slice(0, 100)}' of the tag '${tag}' is none of ${tagOperators.join(', ')}`)
  }
  return {
    tag,
    ...(anyOf !== undefined && { anyOf: toValues(tag, anyOf) }),
    ...(not !== undefined && { noneOf: toValues(tag, not) }),
    ...(exists !== undefined && { exists: toBoolean(tag, exists) }),
  }
}

function toValues(tag: string, given: unknown): string[] {
  const values: unknown[] = Array.isArray(given) ? given : [given]
  if (values.length > maxValues) throw invalid(`The tag '${tag}' may have ${maxValues} values, not ${values.length}`)
  return values.map((value) => {
    if (value === null) return ''
    if (typeof value === 'string' && value.length <= maxLength) return value
    throw invalid(`The values of the tag '${tag}' must be texts of at most ${maxLength} characters`)
  })
}

function toBoolean(tag: string, given: unknown): boolean {
  if (given === true || given === 'true') return true
  if (given === false || given === 'false') return false
  throw invalid(`The operator 'exists' of the tag '${tag}' takes true or false`)
}

function invalid(message: string): ApiError {
  return new ApiError('InvalidQuery', message)
}
