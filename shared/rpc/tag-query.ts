import { ApiError } from '../errors.ts'
import { isRecord } from '../models/payload.ts'
import { tagOperators } from '../models/tag-filter.ts'
import { getOrInsert, nestQuery } from './query.ts'

const dotted = 'tags.'
const bracketed = /^tags((?:\[[^\]]*\])+)$/s

/**
 * Nests the fields of a query with a filter by tags (`models/tag-filter.ts`), in the encodings of published clients
 * (`tags.a=x&tags.a=y`, `tags.a.not=x`), of `qs` (`tags[a][0]=x`, `tags[a][not][0]=x`) and of the specification (a JSON
 * text in `tags`). With dots, a last segment that is an operator is read as one if a name remains before it; a tag whose
 * name ends so is reached by the JSON text.
 *
 * @param flat the parsed query, or an object that is already nested
 * @throws ApiError `InvalidQuery` when the filter cannot be read
 */
export function nestTagQuery(flat: Record<string, unknown>): Record<string, unknown> {
  const filter = new Map<string, Map<string, unknown[]>>()
  const others = new Map<string, unknown>()
  for (const [key, value] of Object.entries(flat)) {
    const path = pathOf(key)
    if (!path) {
      others.set(key, value)
      continue
    }
    const { tag, operator } = path
    const operators = filter.get(tag) ?? new Map<string, unknown[]>()
    const values = getOrInsert(operators, operator)
    for (const each of Array.isArray(value) ? value : [value]) values.push(each)
    filter.set(tag, operators)
  }
  const nested = nestQuery(Object.fromEntries(others))
  if (typeof nested['tags'] === 'string') nested['tags'] = parse(nested['tags'])
  if (filter.size === 0) return nested
  if (nested['tags'] !== undefined) throw invalid('The filter is given twice: as a text in tags, and by its fields')
  return {
    ...nested,
    tags: Object.fromEntries(Array.from(filter, ([tag, operators]) => [tag, toValue(tag, operators)])),
  }
}

/** @param operators values by operator; equality has the empty name */
function toValue(tag: string, operators: Map<string, unknown[]>): unknown {
  const equal = operators.get('')
  if (equal && operators.size === 1) return equal
  if (equal) throw invalid(`The tag '${tag}' has values and operators: use the operator 'in'`)
  return Object.fromEntries(Array.from(operators, ([name, values]) => [name, values.length === 1 ? values[0] : values]))
}

/** The tag and operator that a field of the query names. Undefined when it is no field of the filter. */
function pathOf(key: string): { tag: string; operator: string } | undefined {
  if (key.startsWith(dotted) && key.length > dotted.length) {
    const afterDot = withoutIndexes(key.slice(dotted.length))
    const dot = afterDot.lastIndexOf('.')
    const operator = afterDot.slice(dot + 1)
    return dot > 0 && isOperator(operator) ? { tag: afterDot.slice(0, dot), operator } : { tag: afterDot, operator: '' }
  }
  const [, brackets] = bracketed.exec(key) ?? []
  if (brackets === undefined) return undefined
  const [tag = '', ...rest] = brackets.slice(1, -1).split('][')
  const [operator = '', ...more] = rest.filter((segment) => !/^\d*$/.test(segment))
  if (more.length > 0) throw invalid(`The filter '${key.slice(0, 100)}' is nested too deep`)
  if (operator !== '' && !isOperator(operator)) {
    throw invalid(`The operator '${operator.slice(0, 100)}' of the tag '${tag}' is none of ${tagOperators.join(', ')}`)
  }
  return { tag, operator }
}

/** A name without the indexes at its end, `[0]` or `[]`. A regular expression would take quadratic time for a row of them. */
function withoutIndexes(name: string): string {
  let end = name.length
  while (name[end - 1] === ']') {
    let open = end - 2
    while (isDigit(name[open])) open -= 1
    if (open <= 0 || name[open] !== '[') break
    end = open
  }
  return name.slice(0, end)
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= '0' && character <= '9'
}

function isOperator(name: string): boolean {
  return (tagOperators as readonly string[]).includes(name)
}

function parse(text: string): object {
  if (text === '') return {}
  try {
    const filter: unknown = JSON.parse(text)
    if (isRecord(filter)) return filter
  } catch {
    // Reported below.
  }
  throw invalid('tags must be a JSON object, or fields such as tags.color=red')
}

function invalid(message: string): ApiError {
  return new ApiError('InvalidQuery', message)
}
