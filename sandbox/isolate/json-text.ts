import {
  execRegExp,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  isArray,
  isObject,
  keys,
  NativeWeakMap,
  sliceText,
  stringify,
  weakMapGet,
  weakMapSet,
} from './primordials.ts'
import { redact } from './secrets.ts'

const pathCharacters = 200
const keyCharacters = 60
const reasonCharacters = 200
const deepest = 1000
const valuesRead = 100_000

/** A value in another one, by its key; the outermost one has a name. */
interface Position {
  value: unknown
  key: string | number
  around: Position | undefined
}

/**
 * Makes what is thrown; the reason names the first value without a JSON form, as in `event.state.user.total is a BigInt`. Where none is
 * found, a getter, a conversion or a proxy of the value has thrown `own`.
 */
export type Refuse = (reason: string, own?: { thrown: unknown }) => unknown

/**
 * Serializes a value that code gave.
 *
 * @param name the name of the value in paths, such as `event.state`
 */
export function toJsonText(value: unknown, name: string, refuse: Refuse): string {
  const text = jsonTextOf(value, name, refuse)
  if (text === undefined) throw refuse(`${name} is ${kindOf(value)}`)
  return text
}

/** As `toJsonText`, but undefined for a value that JSON leaves out. */
export function jsonTextOf(value: unknown, name: string, refuse: Refuse): string | undefined {
  try {
    return stringify(value)
  } catch (error) {
    const found = culpritIn(value, name)
    if (found !== undefined) throw refuse(found)
    throw refuse(`reading ${name} failed: ${messageOf(error)}`, { thrown: error })
  }
}

/** The reason for which JSON.stringify has thrown. */
export function reasonOf(value: unknown, name: string, thrown: unknown): string {
  return culpritIn(value, name) ?? `reading ${name} failed: ${messageOf(thrown)}`
}

/** Finds the first value without a JSON form. It calls no getter and no `toJSON`: JSON.stringify has called each once. */
function culpritIn(value: unknown, name: string): string | undefined {
  try {
    const search: Search = { left: valuesRead, seen: new NativeWeakMap() }
    return find(search, { value, key: name, around: undefined }, 0)
  } catch {
    // The traps of a proxy threw, as they may have done before.
    return undefined
  }
}

interface Search {
  left: number
  /** Objects in which nothing was found. */
  seen: WeakMap<object, boolean>
}

function find(search: Search, position: Position, depth: number): string | undefined {
  const { value } = position
  if (typeof value === 'bigint') return `${pathTo(position)} is a BigInt`
  if (!isObject(value) || weakMapGet(search.seen, value) === true) return undefined
  for (let outer = position.around; outer !== undefined; outer = outer.around) {
    if (outer.value === value) return `${pathTo(position)} is a circular reference to ${pathTo(outer)}`
  }
  if (depth > deepest) return `${pathTo(position)} is more than ${deepest} objects deep`
  search.left -= 1
  if (search.left < 0 || convertsItself(value)) return undefined
  const names = keys(value)
  for (let index = 0; index < names.length; index += 1) {
    const property = getOwnPropertyDescriptor(value, names[index]!)
    const key = isArray(value) ? index : names[index]!
    const found = find(search, { value: property?.value as unknown, key, around: position }, depth + 1)
    if (found !== undefined) return found
  }
  weakMapSet(search.seen, value, true)
  return undefined
}

/** Whether an object has a `toJSON`, or may have one behind a getter. */
function convertsItself(object: object): boolean {
  let owner: object | null = object
  for (let count = 0; owner !== null && count < deepest; count += 1) {
    const property = getOwnPropertyDescriptor(owner, 'toJSON')
    if (property !== undefined) return property.get !== undefined || typeof property.value === 'function'
    owner = getPrototypeOf(owner) as object | null
  }
  return false
}

const identifier = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u

function pathTo({ key, around }: Position): string {
  if (around === undefined) return `${key}`
  const path = pathTo(around) + stepTo(key)
  if (path.length <= pathCharacters) return path
  return `${sliceText(path, 0, pathCharacters / 2)}…${sliceText(path, 1 - pathCharacters / 2)}`
}

function stepTo(key: string | number): string {
  if (typeof key === 'number') return `[${key}]`
  const whole = redact(key)
  const shown = whole.length > keyCharacters ? `${sliceText(whole, 0, keyCharacters)}…` : whole
  return execRegExp(identifier, whole) === null ? `[${stringify(shown)}]` : `.${shown}`
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'undefined'
  return isObject(value) ? 'an object whose toJSON returns no JSON value' : `a ${typeof value}`
}

/** The first line of an error's message. */
function messageOf(thrown: unknown): string {
  try {
    const message = isObject(thrown) ? thrown['message'] : thrown
    const lines = typeof message === 'string' ? execRegExp(/^.*/, redact(message)) : null
    return sliceText(lines?.[0] ?? `it threw ${kindOf(thrown)}`, 0, reasonCharacters)
  } catch {
    return 'it threw'
  }
}
