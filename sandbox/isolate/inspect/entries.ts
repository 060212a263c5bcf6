import {
  apply,
  execRegExp,
  getOwnPropertyDescriptor,
  keys as keysOf,
  NativeUint8Array,
  sliceText,
  toNumber,
} from '../primordials.ts'
import {
  isEnumerable,
  mapEntries,
  mapSize,
  min,
  nextOfMap,
  nextOfSet,
  ownNames,
  ownSymbols,
  setSize,
  setValues,
  typedLength,
} from './built-ins.ts'
import type { Keys } from './errors.ts'
import { showInside, spend, type Inspection } from './inspection.ts'
import { add, createList, type List } from './lists.ts'
import { primitiveText, symbolText } from './primitives.ts'
import { bytesToText, quote } from './text.ts'

/** Objects with more elements than this are shown without further properties: reading the keys takes all their indices. */
const elementsWithKeys = 10_000

/** The keys of the properties to show, without the indices of elements. */
export function keysToShow(object: object, showHidden: boolean, elements?: number): Keys {
  const keys = createList<string | symbol>()
  if (elements !== undefined && elements > elementsWithKeys) return keys
  const names = showHidden ? ownNames(object) : keysOf(object)
  for (let index = 0; index < names.length; index += 1) {
    if (elements === undefined || !isIndex(names[index]!)) add(keys, names[index]!)
  }
  const symbols = ownSymbols(object)
  for (let index = 0; index < symbols.length; index += 1) {
    if (showHidden || isEnumerable(object, symbols[index]!)) add(keys, symbols[index]!)
  }
  return keys
}

const indexForm = /^(?:0|[1-9]\d{0,9})$/

function isIndex(name: string): boolean {
  return execRegExp(indexForm, name) !== null && toNumber(name) < 2 ** 32 - 1
}

/** Adds the text that says how many are not shown. */
function addRest(entries: List<string>, rest: number, what = 'item'): void {
  if (rest > 0) add(entries, `... ${rest} more ${what}${rest > 1 ? 's' : ''}`)
}

function isFull(inspection: Inspection, entries: List<string>): boolean {
  if (inspection.left > 0) return false
  add(entries, '...')
  return true
}

export function addElements(inspection: Inspection, list: ArrayLike<unknown>, depth: number, to: List<string>): void {
  const { length } = list
  const most = min(inspection.maxArrayLength, length)
  let index = 0
  while (index < length && to.length < most) {
    if (isFull(inspection, to)) return
    const property = getOwnPropertyDescriptor(list, index)
    if (property === undefined) {
      const next = nextElement(list, index)
      add(to, inspection.stylize(`<${next - index} empty item${next - index > 1 ? 's' : ''}>`, 'undefined'))
      inspection.left -= 1
      index = next
    } else {
      add(to, propertyText(inspection, list, property, depth))
      index += 1
    }
  }
  addRest(to, length - index)
}

/** Beyond so many holes in a row, those of a list are found by its keys. */
const holesRead = 1000

/** The index of the next element behind a hole; the length of the list if there is none. */
function nextElement(list: ArrayLike<unknown>, hole: number): number {
  const { length } = list
  for (let index = hole + 1; index < length; index += 1) {
    if (getOwnPropertyDescriptor(list, index) !== undefined) return index
    if (index - hole > holesRead) return nextKey(list, index)
  }
  return length
}

function nextKey(list: ArrayLike<unknown>, from: number): number {
  const names = keysOf(list)
  for (let index = 0; index < names.length; index += 1) {
    if (!isIndex(names[index]!)) break
    const position = toNumber(names[index]!)
    if (position >= from) return position
  }
  return list.length
}

export function addNumbers(inspection: Inspection, numbers: ArrayLike<unknown>, to: List<string>): void {
  const length = typedLength(numbers)
  const most = min(inspection.maxArrayLength, length)
  for (let index = 0; index < most; index += 1) {
    if (isFull(inspection, to)) return
    add(to, primitiveText(inspection, numbers[index], inspection.stylize))
  }
  addRest(to, length - most)
}

export function addMapEntries(inspection: Inspection, map: object, depth: number, to: List<string>): void {
  const iterator = mapEntries(map)
  const most = min(inspection.maxArrayLength, mapSize(map))
  for (let count = 0; count < most && !isFull(inspection, to); count += 1) {
    const { value } = nextOfMap(iterator) as { value: [unknown, unknown] }
    add(to, `${showInside(inspection, value[0], depth)} => ${showInside(inspection, value[1], depth)}`)
  }
  addRest(to, mapSize(map) - most)
}

export function addSetEntries(inspection: Inspection, set: object, depth: number, to: List<string>): void {
  const iterator = setValues(set)
  const most = min(inspection.maxArrayLength, setSize(set))
  for (let count = 0; count < most && !isFull(inspection, to); count += 1) {
    add(to, showInside(inspection, nextOfSet(iterator).value, depth))
  }
  addRest(to, setSize(set) - most)
}

export function addBytes(inspection: Inspection, buffer: ArrayBuffer, to: List<string>): void {
  const { maxArrayLength, stylize } = inspection
  let bytes: Uint8Array
  try {
    bytes = new NativeUint8Array(buffer)
  } catch {
    return add(to, stylize('(detached)', 'special'))
  }
  const length = typedLength(bytes)
  const most = min(maxArrayLength, length)
  const rest = length - most
  const more = rest > 0 ? ` ... ${rest} more byte${rest > 1 ? 's' : ''}` : ''
  add(to, `${stylize('[Uint8Contents]', 'special')}: <${spend(inspection, bytesToText(bytes, most))}${more}>`)
}

export function addProperties(
  inspection: Inspection,
  object: object,
  keys: Keys,
  depth: number,
  to: List<string>,
): void {
  for (let index = 0; index < keys.length; index += 1) {
    if (isFull(inspection, to)) return
    const key = keys[index]!
    const property = getOwnPropertyDescriptor(object, key)
    if (property !== undefined) addProperty(inspection, object, key, property, depth, to)
  }
}

function addProperty(
  inspection: Inspection,
  object: object,
  key: string | symbol,
  property: PropertyDescriptor,
  depth: number,
  to: List<string>,
): void {
  const name = keyText(inspection, key)
  const text = propertyText(inspection, object, property, depth)
  add(to, `${property.enumerable === false ? `[${name}]` : name}: ${text}`)
}

const identifier = /^[a-zA-Z_][a-zA-Z_0-9]*$/
const keyCharacters = 10_000

function keyText(inspection: Inspection, key: string | symbol): string {
  const { stylize } = inspection
  if (typeof key === 'symbol') return stylize(spend(inspection, symbolText(key)), 'symbol')
  const name = spend(inspection, sliceText(inspection.redact(key), 0, keyCharacters))
  if (key === '__proto__') return "['__proto__']"
  return execRegExp(identifier, key) === null ? stylize(quote(name), 'string') : stylize(name, 'name')
}

/** Shows the value of a property; the value of a getter only if the options say so. */
function propertyText(inspection: Inspection, object: object, property: PropertyDescriptor, depth: number): string {
  const { stylize, getters } = inspection
  const { get, set } = property
  if (get === undefined && set === undefined) return showInside(inspection, property.value, depth)
  if (get === undefined) return stylize('[Setter]', 'special')
  const label = set === undefined ? 'Getter' : 'Getter/Setter'
  const isRead = getters === true || getters === (set === undefined ? 'get' : 'set')
  if (!isRead) return stylize(spend(inspection, `[${label}]`), 'special')
  let value: unknown
  try {
    value = apply(get, object, [])
  } catch (error) {
    return `[${label}: <Inspection threw (${showInside(inspection, error, depth)})>]`
  }
  const text = showInside(inspection, value, depth)
  return typeof value === 'object' && value !== null ? `[${label}] ${text}` : `[${label}: ${text}]`
}

/** Whether all elements that are shown are numbers. */
export function areNumbers(list: ArrayLike<unknown>, count: number): boolean {
  for (let index = 0; index < count; index += 1) {
    const value: unknown = getOwnPropertyDescriptor(list, index)?.value
    if (typeof value !== 'number' && typeof value !== 'bigint') return false
  }
  return true
}
