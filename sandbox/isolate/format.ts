import type { InspectOptions } from './inspect/inspection.ts'
import { inspectForLog } from './inspect/inspect.ts'
import { numberText } from './inspect/primitives.ts'
import {
  getOwnPropertyDescriptor,
  getPrototypeOf,
  hasOwn,
  indexIn,
  isObject,
  sliceText,
  stringify,
  toFloat,
  toInteger,
  toNumber,
  toText,
} from './primordials.ts'

type Show = (value: unknown, options?: Partial<InspectOptions>) => string

/** Joins values into one text, with the directives of Node's `util.format`. */
export function format(values: ArrayLike<unknown>, show: Show = inspectForLog): string {
  const first = values[0]
  let text = ''
  let next = 0
  if (typeof first === 'string') {
    next = 1
    let start = 0
    for (let at = indexIn(first, '%'); at !== -1 && values.length > 1; at = indexIn(first, '%', start)) {
      text += sliceText(first, start, at)
      const directive = sliceText(first, at, at + 2)
      const shown = next < values.length ? showAs(directive, values[next], show) : undefined
      if (shown !== undefined) next += 1
      text += directive === '%%' ? '%' : (shown ?? directive)
      start = at + 2
    }
    text += sliceText(first, start)
  }
  for (let index = next; index < values.length; index += 1) {
    const value = values[index]
    text += (index === 0 ? '' : ' ') + (typeof value === 'string' ? value : show(value))
  }
  return text
}

function showAs(directive: string, value: unknown, show: Show): string | undefined {
  switch (directive) {
    case '%s':
      return asText(value, show)
    case '%d':
      return asNumber(value, toNumber)
    case '%i':
      return asNumber(value, toInteger as (value: unknown) => number)
    case '%f':
      return typeof value === 'symbol' ? 'NaN' : numberText(toFloat(value as string))
    case '%j':
      return toJson(value)
    case '%o':
      return show(value, { showHidden: true, depth: 4 })
    case '%O':
      return show(value)
    case '%c':
      return ''
    default:
      return undefined
  }
}

function asText(value: unknown, show: Show): string {
  if (typeof value === 'number') return numberText(value)
  if (typeof value === 'bigint') return `${value}n`
  if (!isObject(value) || !hasBuiltInToString(value)) return toText(value)
  return show(value, { compact: 3, colors: false, depth: 0 })
}

function asNumber(value: unknown, convert: (value: unknown) => number): string {
  if (typeof value === 'bigint') return `${value}n`
  return typeof value === 'symbol' ? 'NaN' : numberText(convert(value))
}

const classesOfTheLanguage =
  ' Object Function Array Number Boolean String Symbol BigInt Date Promise RegExp Map Set WeakMap WeakSet WeakRef Proxy ' +
  'Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError ArrayBuffer SharedArrayBuffer ' +
  'DataView Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array Float16Array Float32Array ' +
  'Float64Array BigInt64Array BigUint64Array Iterator FinalizationRegistry DisposableStack AsyncDisposableStack '

/** Prototypes of a chain that are looked at: a proxy may have one after the other without end. */
const prototypesRead = 100
const { toPrimitive } = Symbol

/** Whether the text of an object would only name its class, or say less of it than an inspection. */
function hasBuiltInToString(object: Record<PropertyKey, unknown>): boolean {
  const hasText = typeof object['toString'] === 'function'
  const hasPrimitive = typeof object[toPrimitive] === 'function'
  if (!hasText && !hasPrimitive) return true
  const converts = (one: object) => (hasText && hasOwn(one, 'toString')) || (hasPrimitive && hasOwn(one, toPrimitive))
  let owner: object | null = object
  for (let count = 0; owner !== null && count < prototypesRead && !converts(owner); count += 1) {
    owner = getPrototypeOf(owner) as object | null
  }
  if (owner === null || owner === object) return owner === null
  const Class: unknown = getOwnPropertyDescriptor(owner, 'constructor')?.value
  const name = typeof Class === 'function' ? (getOwnPropertyDescriptor(Class, 'name')?.value as unknown) : undefined
  return typeof name === 'string' && name !== '' && indexIn(classesOfTheLanguage, ` ${name} `) !== -1
}

function toJson(value: unknown): string {
  try {
    return stringify(value) ?? 'undefined'
  } catch (error) {
    if (!isObject(error) || !isCircle(error['message'])) throw error
    return '[Circular]'
  }
}

function isCircle(message: unknown): boolean {
  return typeof message === 'string' && indexIn(message, 'Converting circular structure to JSON') === 0
}
