import { openBlock, type Budget } from './block.ts'
import { botFrames } from './stack.ts'
import {
  dateToIso,
  forEachInMap,
  forEachInSet,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  indexIn,
  isArray,
  isNaN,
  isObject,
  isView,
  keys,
  regExpToText,
  sliceText,
  stringify,
  symbolToText,
  tagOf,
  timeOf,
  toText,
} from './primordials.ts'

const deepest = 2
const totalCharacters = 10_000

/** The position of an inspection: its depth, the enclosing objects, and the remaining budget of characters. */
interface Place {
  depth: number
  object: object | undefined
  around: Place | undefined
  budget: Budget
}

/** Formats a value for developers, much as Node does. */
export function inspect(value: unknown): string {
  return show(value, { depth: 0, object: undefined, around: undefined, budget: { left: totalCharacters } })
}

function show(value: unknown, place: Place): string {
  switch (typeof value) {
    case 'string':
      return quote(value)
    case 'bigint':
      return `${value}n`
    case 'symbol':
      return symbolToText(value)
    case 'number':
      return value === 0 && 1 / value < 0 ? '-0' : toText(value)
    case 'function':
      return `[Function: ${nameOf(value) || '(anonymous)'}]`
    default:
      return isObject(value) ? showObject(value, place) : toText(value)
  }
}

function quote(text: string): string {
  const quoted = stringify(sliceText(text, 0, totalCharacters))
  const plain = indexIn(text, "'") === -1 && indexIn(text, '"') === -1
  return plain ? `'${sliceText(quoted, 1, -1)}'` : quoted
}

function showObject(object: Record<string, unknown>, place: Place): string {
  for (let outer: Place | undefined = place; outer !== undefined; outer = outer.around) {
    if (outer.object === object) return '[Circular]'
  }
  const inner = { depth: place.depth, object, around: place, budget: place.budget }
  switch (tagOf(object)) {
    case '[object Date]':
      return showDate(object as unknown as Date)
    case '[object RegExp]':
      return regExpToText(object as unknown as RegExp)
    case '[object Error]':
      return showError(object, inner)
  }
  if (place.depth > deepest) return isArray(object) ? '[Array]' : `[${classOf(object) || 'Object'}]`
  if (isArray(object)) return showList(object, '[', inner)
  if (isView(object)) return showList(object as unknown as ArrayLike<unknown>, `${classOf(object)} [`, inner)
  switch (tagOf(object)) {
    case '[object Map]':
      return showMap(object as unknown as Map<unknown, unknown>, inner)
    case '[object Set]':
      return showSet(object as unknown as Set<unknown>, inner)
  }
  return showProperties(object, `${prefixOf(object)}{`, inner)
}

function showDate(date: Date): string {
  return isNaN(timeOf(date)) ? 'Invalid Date' : dateToIso(date)
}

function showError(error: Record<string, unknown>, place: Place): string {
  const { name, message, stack } = error
  const frames = typeof stack === 'string' ? botFrames(stack) : ''
  const header = `${typeof name === 'string' ? name : 'Error'}: ${typeof message === 'string' ? message : ''}`
  const properties = keys(error).length > 0 && place.depth <= deepest ? ` ${showProperties(error, '{', place)}` : ''
  return `${header}${frames === '' ? '' : `\n${frames}`}${properties}`
}

function showList(list: ArrayLike<unknown>, bracket: string, place: Place): string {
  const block = openBlock(bracket, place.depth, place.budget)
  for (let index = 0; index < list.length; index += 1) {
    if (!block.add(show(list[index], deeper(place)))) break
  }
  return block.close(']')
}

function showMap(map: Map<unknown, unknown>, place: Place): string {
  const block = openBlock('Map {', place.depth, place.budget)
  let more = true
  forEachInMap(map, (value, key) => {
    if (more) more = block.add(`${show(key, deeper(place))} => ${show(value, deeper(place))}`)
  })
  return block.close('}')
}

function showSet(set: Set<unknown>, place: Place): string {
  const block = openBlock('Set {', place.depth, place.budget)
  let more = true
  forEachInSet(set, (value) => {
    if (more) more = block.add(show(value, deeper(place)))
  })
  return block.close('}')
}

function showProperties(object: Record<string, unknown>, bracket: string, place: Place): string {
  const block = openBlock(bracket, place.depth, place.budget)
  const names = keys(object)
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index]!
    const property = getOwnPropertyDescriptor(object, name)
    const value = property?.get === undefined ? show(property?.value, deeper(place)) : '[Getter]'
    if (!block.add(`${isIdentifier(name) ? name : quote(name)}: ${value}`)) break
  }
  return block.close('}')
}

function deeper(place: Place): Place {
  return { depth: place.depth + 1, object: place.object, around: place.around, budget: place.budget }
}

function prefixOf(object: object): string {
  if (getPrototypeOf(object) === null) return '[Object: null prototype] '
  const name = classOf(object)
  return name === '' || name === 'Object' ? '' : `${name} `
}

function classOf(object: object): string {
  const prototype = getPrototypeOf(object) as object | null
  const constructor = prototype === null ? undefined : getOwnPropertyDescriptor(prototype, 'constructor')?.value
  return typeof constructor === 'function' ? nameOf(constructor as object) : ''
}

function nameOf(value: object): string {
  const name = getOwnPropertyDescriptor(value, 'name')?.value as unknown
  return typeof name === 'string' ? name : ''
}

function isIdentifier(name: string): boolean {
  if (name === '') return false
  for (let index = 0; index < name.length; index += 1) {
    const character = name[index]!
    const isLetter = (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z')
    const isDigit = character >= '0' && character <= '9' && index > 0
    if (!isLetter && !isDigit && character !== '_' && character !== '$') return false
  }
  return true
}
