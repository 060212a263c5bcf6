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
interface Level {
  depth: number
  object: object | undefined
  around: Level | undefined
  budget: Budget
}

/** Formats a value for developers, much as Node does. */
export function inspect(value: unknown): string {
  return show(value, { depth: 0, object: undefined, around: undefined, budget: { left: totalCharacters } })
}

function show(value: unknown, level: Level): string {
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
      return isObject(value) ? showObject(value, level) : toText(value)
  }
}

function quote(text: string): string {
  const quoted = stringify(sliceText(text, 0, totalCharacters))
  const plain = indexIn(text, "'") === -1 && indexIn(text, '"') === -1
  return plain ? `'${sliceText(quoted, 1, -1)}'` : quoted
}

function showObject(object: Record<string, unknown>, level: Level): string {
  for (let outer: Level | undefined = level; outer !== undefined; outer = outer.around) {
    if (outer.object === object) return '[Circular]'
  }
  const inner = { depth: level.depth, object, around: level, budget: level.budget }
  switch (tagOf(object)) {
    case '[object Date]':
      return showDate(object as unknown as Date)
    case '[object RegExp]':
      return regExpToText(object as unknown as RegExp)
    case '[object Error]':
      return showError(object, inner)
  }
  if (level.depth > deepest) return isArray(object) ? '[Array]' : `[${classOf(object) || 'Object'}]`
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

function showError(error: Record<string, unknown>, level: Level): string {
  const { name, message, stack } = error
  const frames = typeof stack === 'string' ? botFrames(stack) : ''
  const header = `${typeof name === 'string' ? name : 'Error'}: ${typeof message === 'string' ? message : ''}`
  const properties = keys(error).length > 0 && level.depth <= deepest ? ` ${showProperties(error, '{', level)}` : ''
  return `${header}${frames === '' ? '' : `\n${frames}`}${properties}`
}

function showList(list: ArrayLike<unknown>, bracket: string, level: Level): string {
  const block = openBlock(bracket, level.depth, level.budget)
  for (let index = 0; index < list.length; index += 1) {
    if (!block.add(show(list[index], deeper(level)))) break
  }
  return block.close(']')
}

function showMap(map: Map<unknown, unknown>, level: Level): string {
  const block = openBlock('Map {', level.depth, level.budget)
  let more = true
  forEachInMap(map, (value, key) => {
    if (more) more = block.add(`${show(key, deeper(level))} => ${show(value, deeper(level))}`)
  })
  return block.close('}')
}

function showSet(set: Set<unknown>, level: Level): string {
  const block = openBlock('Set {', level.depth, level.budget)
  let more = true
  forEachInSet(set, (value) => {
    if (more) more = block.add(show(value, deeper(level)))
  })
  return block.close('}')
}

function showProperties(object: Record<string, unknown>, bracket: string, level: Level): string {
  const block = openBlock(bracket, level.depth, level.budget)
  const names = keys(object)
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index]!
    const property = getOwnPropertyDescriptor(object, name)
    const value = property?.get === undefined ? show(property?.value, deeper(level)) : '[Getter]'
    if (!block.add(`${isIdentifier(name) ? name : quote(name)}: ${value}`)) break
  }
  return block.close('}')
}

function deeper(level: Level): Level {
  return { depth: level.depth + 1, object: level.object, around: level.around, budget: level.budget }
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
