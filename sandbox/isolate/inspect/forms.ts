import { bytesIn, dateToIso, isArray, isNaN, isView, regExpToText, sliceText, tagOf, timeOf } from '../primordials.ts'
import {
  bigintValue,
  booleanValue,
  isError,
  mapSize,
  numberValue,
  setSize,
  stringValue,
  symbolValue,
  typedLength,
  typedName,
  viewBuffer,
  viewLength,
  viewOffset,
} from './built-ins.ts'
import { addBytes, addElements, addMapEntries, addNumbers, addSetEntries, areNumbers, keysToShow } from './entries.ts'
import { errorText, type Keys } from './errors.ts'
import { plain, showInside, spend, type Inspection } from './inspection.ts'
import { add, type List } from './lists.ts'
import { functionText, plainPrefixOf, prefixOf } from './names.ts'
import { primitiveText } from './primitives.ts'

/** How an object is shown. */
export interface Form {
  /** The text before the bracket; alone if there are no entries. */
  base?: string
  /** Of `base` alone. */
  style?: string
  opening: string
  closing?: string
  /** Whether it is shown with its bracket also without entries. */
  hasBracket?: boolean
  isList?: boolean
  isNumeric?: boolean
  /** Whether `base` stands for an object that is too deep to be shown. */
  baseIsEnough?: boolean
  keys: Keys
  /** Whether `addEntries` adds nothing. */
  hasNoEntries?: boolean
  /** Adds entries that are no properties. */
  addEntries?: (to: List<string>, depth: number) => void
}

export interface Subject {
  inspection: Inspection
  object: object
  /** The name of its class, or null. */
  name: string | null
  tag: string
}

/** Finds the form of an object: by its internal slots where it has some, which no property can pretend to be. */
export function formOf(subject: Subject): Form {
  const { object } = subject
  if (isArray(object)) return arrayForm(subject, object)
  if (typeof object === 'function') {
    const { inspection, name, tag } = subject
    const base = spend(inspection, functionText(object, name, tag))
    return { base, style: 'special', opening: '{', keys: keysOf(subject) }
  }
  if (isView(object)) return viewForm(subject)
  const kind = sliceText(tagOf(object), '[object '.length, -1)
  if (isError(object) || kind === 'Error') return errorForm(subject)
  return slotForm(subject, kind) ?? plainForm(subject, kind)
}

function keysOf({ object, inspection }: Subject, elements?: number): Keys {
  return keysToShow(object, inspection.showHidden, elements)
}

function arrayForm(subject: Subject, list: unknown[]): Form {
  const { inspection, name, tag } = subject
  const { length } = list
  const prefix = name !== 'Array' || tag !== '' ? prefixOf(name, tag, 'Array', `(${length})`) : ''
  return {
    opening: `${prefix}[`,
    closing: ']',
    hasBracket: true,
    isList: true,
    isNumeric: areNumbers(list, length < 101 ? length : 101),
    keys: keysOf(subject, length),
    hasNoEntries: length === 0,
    addEntries: (to, depth) => addElements(inspection, list, depth, to),
  }
}

function viewForm(subject: Subject): Form {
  const { inspection, name, tag, object } = subject
  const fallback = typedName(object)
  if (fallback === undefined) {
    const addEntries = (to: List<string>, depth: number) => {
      addHidden(inspection, to, 'byteLength', viewLength(object), depth)
      addHidden(inspection, to, 'byteOffset', viewOffset(object), depth)
      addHidden(inspection, to, 'buffer', viewBuffer(object), depth)
    }
    return { opening: `${prefixOf(name, tag, 'DataView')}{`, hasBracket: true, keys: keysOf(subject), addEntries }
  }
  const length = typedLength(object)
  return {
    opening: `${prefixOf(name, tag, fallback, `(${length})`)}[`,
    closing: ']',
    hasBracket: true,
    isList: true,
    isNumeric: true,
    keys: keysOf(subject, length),
    hasNoEntries: length === 0,
    addEntries: (to) => addNumbers(inspection, object as unknown as ArrayLike<unknown>, to),
  }
}

/** Adds a property that is no property of the object itself. */
function addHidden(inspection: Inspection, to: List<string>, name: string, value: unknown, depth: number): void {
  add(to, `${inspection.stylize(`[${name}]`, 'string')}: ${showInside(inspection, value, depth)}`)
}

function errorForm(subject: Subject): Form {
  const { inspection, name, tag, object } = subject
  const { text, keys } = errorText(object as Record<string, unknown>, name, tag, inspection, keysOf(subject))
  return { base: spend(inspection, text), baseIsEnough: true, opening: '{', keys }
}

/** The form of an object of a built-in class; undefined if it only says that it is one. */
function slotForm(subject: Subject, kind: string): Form | undefined {
  try {
    return readSlots(subject, kind)
  } catch {
    return undefined
  }
}

function readSlots(subject: Subject, kind: string): Form | undefined {
  const { inspection, name, tag, object } = subject
  switch (kind) {
    case 'Map':
      return {
        opening: `${prefixOf(name, tag, 'Map', `(${mapSize(object)})`)}{`,
        hasBracket: true,
        keys: keysOf(subject),
        hasNoEntries: mapSize(object) === 0,
        addEntries: (to, depth) => addMapEntries(inspection, object, depth, to),
      }
    case 'Set':
      return {
        opening: `${prefixOf(name, tag, 'Set', `(${setSize(object)})`)}{`,
        hasBracket: true,
        keys: keysOf(subject),
        hasNoEntries: setSize(object) === 0,
        addEntries: (to, depth) => addSetEntries(inspection, object, depth, to),
      }
    case 'Date': {
      const date = object as Date
      return baseForm(subject, 'Date', 'date', isNaN(timeOf(date)) ? 'Invalid Date' : dateToIso(date))
    }
    case 'RegExp':
      return baseForm(subject, 'RegExp', 'regexp', regExpToText(object as RegExp))
    case 'ArrayBuffer': {
      const buffer = object as ArrayBuffer
      const length = bytesIn(buffer)
      const addEntries = (to: List<string>, depth: number) => {
        addBytes(inspection, buffer, to)
        addHidden(inspection, to, 'byteLength', length, depth)
      }
      return { opening: `${prefixOf(name, tag, kind)}{`, hasBracket: true, keys: keysOf(subject), addEntries }
    }
    case 'Promise':
      // JavaScript has no function that reads the state.
      return unknownForm(subject, kind, '<state unknown>')
    case 'WeakMap':
    case 'WeakSet':
      return unknownForm(subject, kind, '<items unknown>')
    case 'Number':
      return boxForm(subject, kind, numberValue(object))
    case 'String':
      return boxForm(subject, kind, stringValue(object))
    case 'Boolean':
      return boxForm(subject, kind, booleanValue(object))
    case 'BigInt':
      return boxForm(subject, kind, bigintValue(object))
    case 'Symbol':
      return boxForm(subject, kind, symbolValue(object))
    default:
      return undefined
  }
}

function baseForm(subject: Subject, kind: string, style: string, text: string): Form {
  const { inspection, name, tag } = subject
  const prefix = prefixOf(name, tag, kind)
  const base = spend(inspection, prefix === `${kind} ` ? text : prefix + text)
  return { base, style, baseIsEnough: kind === 'Date', opening: '{', keys: keysOf(subject) }
}

function unknownForm(subject: Subject, kind: string, content: string): Form {
  const { inspection, name, tag } = subject
  return {
    opening: `${prefixOf(name, tag, kind)}{`,
    hasBracket: true,
    keys: keysOf(subject),
    addEntries: (to) => add(to, inspection.stylize(content, 'special')),
  }
}

/** The form of a primitive value in an object, such as `new String('a')`. */
function boxForm(subject: Subject, kind: string, value: unknown): Form {
  const { inspection, name, tag } = subject
  const ofClass = name === null ? ' (null prototype)' : name === kind ? '' : ` (${name})`
  const text = `[${kind}${ofClass}: ${primitiveText(inspection, value, plain)}]`
  return {
    base: tag === '' || tag === name ? text : `${text} [${tag}]`,
    style: kind === 'Number' ? 'number' : kind === 'String' ? 'string' : 'symbol',
    opening: '{',
    keys: keysOf(subject, typeof value === 'string' ? value.length : undefined),
  }
}

function plainForm(subject: Subject, kind: string): Form {
  const { name, tag, object } = subject
  const keys = keysOf(subject)
  if (name === 'Object' && kind === 'Arguments') return { opening: '[Arguments] {', hasBracket: true, keys }
  const prefix = name === 'Object' && tag === '' ? '' : plainPrefixOf(object, name, tag)
  return { opening: `${prefix}{`, hasBracket: true, keys }
}
