import {
  apply,
  defineProperty,
  getPrototypeOf,
  hasOwn,
  indexIn,
  isArray,
  isNaN,
  isObject,
  keys,
  NativeDate,
  NativeTypeError,
  record,
  sliceText,
  timeOf,
  toText,
  dateToIso,
} from '../primordials.ts'
import { jsonTextOf, toJsonText, type Refuse } from '../json-text.ts'

/** The names that expressions find. */
export type Scope = Record<string, unknown>

/**
 * Evaluates a field of a card: calls its expressions and fills in its templates, at any depth.
 *
 * @throws the error of an expression
 */
export async function evaluate(value: unknown, scope: Scope): Promise<unknown> {
  if (typeof value === 'function') return (await apply(value, undefined, [scope])) as unknown
  if (typeof value === 'string') return indexIn(value, '{{') === -1 ? value : fillPaths(value, scope)
  if (!isObject(value)) return value
  if (isArray(value)) {
    const list: unknown[] = []
    for (let index = 0; index < value.length; index += 1) list[index] = await evaluate(value[index], scope)
    return list
  }
  const template = hasOwn(value, '$template') ? value['$template'] : undefined
  if (isArray(template)) return fillTemplate(template, scope)
  if (value instanceof NativeDate) return value
  const object: Record<string, unknown> = {}
  const names = keys(value)
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index]!
    const evaluated = await evaluate(value[name], scope)
    defineProperty(object, name, record({ value: evaluated, writable: true, enumerable: true, configurable: true }))
  }
  return object
}

/** Evaluates an expression as a condition. */
export async function holds(value: unknown, scope: Scope): Promise<boolean> {
  return Boolean(await evaluate(value, scope))
}

/** The parts of a template that the upload has split: texts, paths and functions. */
async function fillTemplate(parts: ArrayLike<unknown>, scope: Scope): Promise<string> {
  let text = ''
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index]
    if (typeof part === 'string') text += part
    else if (typeof part === 'function') text += toWords(await apply(part, undefined, [scope]))
    else text += toWords(read(scope, (part as { path: ArrayLike<string> }).path))
  }
  return text
}

/** Replaces each `{{ path }}` by the value at the path, and by nothing where there is none. */
function fillPaths(text: string, scope: Scope): string {
  let filled = ''
  let from = 0
  for (let open = indexIn(text, '{{'); open !== -1; open = indexIn(text, '{{', from)) {
    const close = indexIn(text, '}}', open)
    if (close === -1) break
    filled += sliceText(text, from, open) + toWords(read(scope, toPath(sliceText(text, open + 2, close))))
    from = close + 2
  }
  return filled + sliceText(text, from)
}

/** `a.b.0` as a list of names. */
function toPath(text: string): string[] {
  const path: string[] = []
  let name = ''
  for (let index = 0; index < text.length; index += 1) {
    const letter = text[index]!
    if (letter === '.') {
      path[path.length] = name
      name = ''
    } else if (letter !== ' ' && letter !== '\t' && letter !== '\n') name += letter
  }
  path[path.length] = name
  return path
}

/** Reads a path of own properties; undefined where there is none. */
function read(scope: Scope, path: ArrayLike<string>): unknown {
  let found: unknown = scope
  for (let index = 0; index < path.length; index += 1) {
    if (!isObject(found) || !hasOwn(found, path[index]!)) return undefined
    found = found[path[index]!]
  }
  return found
}

/** A value in a text: nothing for a missing one, JSON for an object. */
export function toWords(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (value instanceof NativeDate) return isNaN(timeOf(value)) ? '' : dateToIso(value)
  if (isObject(value)) return jsonTextOf(value, 'value', refused) ?? ''
  return toText(value)
}

/**
 * Converts a value to JSON and back, so that nothing but data enters a variable.
 *
 * @throws TypeError when the value has no JSON form
 */
export function toData(value: unknown, parse: (text: string) => unknown): unknown {
  if (value === undefined) return null
  const hasJson = typeof value !== 'bigint' && typeof value !== 'symbol' && typeof value !== 'function'
  if (!isObject(value) && hasJson) return value
  return parse(toJsonText(value, 'value', refused))
}

const refused: Refuse = (reason) => new NativeTypeError(`The value cannot be converted to JSON: ${reason}`)

export function isPlain(value: unknown): value is Record<string, unknown> {
  return isObject(value) && !isArray(value) && getPrototypeOf(value) !== undefined
}
