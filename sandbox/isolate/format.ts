import { inspect } from './inspect.ts'
import { indexIn, isObject, sliceText, stringify, toFloat, toInteger, toNumber, toText } from './primordials.ts'

/** Joins logged values into one text, with the directives of Node's `util.format`. */
export function format(values: ArrayLike<unknown>): string {
  const first = values[0]
  let text = ''
  let next = 0
  if (typeof first === 'string' && values.length > 1) {
    next = 1
    let start = 0
    for (let at = indexIn(first, '%'); at !== -1; at = indexIn(first, '%', start)) {
      text += sliceText(first, start, at)
      const directive = sliceText(first, at, at + 2)
      const shown = next < values.length ? showAs(directive, values[next]) : undefined
      if (shown !== undefined) next += 1
      text += directive === '%%' ? '%' : (shown ?? directive)
      start = at + 2
    }
    text += sliceText(first, start)
  }
  for (let index = next; index < values.length; index += 1) {
    const value = values[index]
    text += (index === 0 ? '' : ' ') + (typeof value === 'string' ? value : inspect(value))
  }
  return text
}

function showAs(directive: string, value: unknown): string | undefined {
  switch (directive) {
    case '%s':
      return typeof value === 'string' ? value : inspect(value)
    case '%d':
      return typeof value === 'bigint' ? `${value}n` : isNumeric(value) ? toText(toNumber(value)) : 'NaN'
    case '%i':
      return isNumeric(value) ? toText(toInteger(toText(value))) : 'NaN'
    case '%f':
      return isNumeric(value) ? toText(toFloat(toText(value))) : 'NaN'
    case '%j':
      return toJson(value)
    case '%o':
    case '%O':
      return inspect(value)
    case '%c':
      return ''
    default:
      return undefined
  }
}

function isNumeric(value: unknown): boolean {
  return typeof value !== 'symbol' && !isObject(value)
}

function toJson(value: unknown): string {
  try {
    return stringify(value) ?? 'undefined'
  } catch {
    return '[Circular]'
  }
}
