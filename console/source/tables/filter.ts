import { fromText } from './cell.ts'
import type { Kind } from './column.ts'

/** A filter of the Tables API, or one of its conditions. */
export type Filter = Record<string, unknown>

interface Operator {
  label: string
  /** The types of columns that have it. */
  kinds: readonly Kind[]
  takesValue: boolean
  toCondition: (value: unknown) => unknown
}

const all: readonly Kind[] = ['string', 'number', 'boolean', 'time', 'object', 'array', 'any']
const ordered: readonly Kind[] = ['string', 'number', 'time', 'any']

/** The operators that the form offers; the filter as JSON has all of them. */
export const operators: Record<string, Operator> = {
  $regex: {
    label: 'contains',
    kinds: ['string'],
    takesValue: true,
    toCondition: (value) => ({ $regex: escapePattern(String(value)), $options: 'i' }),
  },
  $eq: { label: 'equals', kinds: all, takesValue: true, toCondition: (value) => value },
  $ne: { label: 'does not equal', kinds: all, takesValue: true, toCondition: (value) => ({ $ne: value }) },
  $in: { label: 'contains', kinds: ['array'], takesValue: true, toCondition: (value) => ({ $in: [value] }) },
  $gt: { label: 'is greater than', kinds: ordered, takesValue: true, toCondition: (value) => ({ $gt: value }) },
  $gte: { label: 'is at least', kinds: ordered, takesValue: true, toCondition: (value) => ({ $gte: value }) },
  $lt: { label: 'is less than', kinds: ordered, takesValue: true, toCondition: (value) => ({ $lt: value }) },
  $lte: { label: 'is at most', kinds: ordered, takesValue: true, toCondition: (value) => ({ $lte: value }) },
  exists: { label: 'has a value', kinds: all, takesValue: false, toCondition: () => ({ $exists: true }) },
  absent: { label: 'has no value', kinds: all, takesValue: false, toCondition: () => ({ $exists: false }) },
}

/** @throws Error when the text is no value of the column */
export function toCondition(column: string, kind: Kind, operator: string, text: string): Filter {
  const { takesValue, toCondition } = operators[operator]!
  // An element of a list may have any type.
  const read = operator === '$in' ? 'any' : kind
  return Object.fromEntries([[column, toCondition(takesValue ? fromText(text, read, column) : undefined)]])
}

/** Characters with a meaning in patterns of PostgreSQL. */
function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
}

/** @throws Error when the text is no object of JSON */
export function parseFilter(text: string): Filter {
  if (text.trim() === '') return {}
  let filter: unknown
  try {
    filter = JSON.parse(text)
  } catch (error) {
    throw new Error(`The filter is no JSON: ${(error as Error).message}`, { cause: error })
  }
  if (typeof filter === 'object' && filter !== null && !Array.isArray(filter)) return filter as Filter
  throw new Error('The filter must be an object of conditions by column')
}

/** The conditions that all have to hold. */
export function conditionsOf(filter: Filter): Filter[] {
  const entries = Object.entries(filter)
  const [[name, value] = []] = entries
  if (entries.length === 1 && name === '$and' && Array.isArray(value)) return value as Filter[]
  return entries.map((entry) => Object.fromEntries([entry]))
}

/** The filter for which all conditions hold, as the text that the address of the page has. */
export function joinConditions(conditions: Filter[]): string {
  if (conditions.length === 0) return ''
  return JSON.stringify(conditions.length === 1 ? conditions[0] : { $and: conditions })
}
