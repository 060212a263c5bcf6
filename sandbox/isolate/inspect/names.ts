import {
  functionToText,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  indexIn,
  lowerCase,
  sliceText,
  tagOf,
  trimText,
} from '../primordials.ts'

const nameCharacters = 1000
/** Prototypes of a chain that are looked at: a proxy may have one after the other without end. */
const prototypesRead = 100

/** The name of the class of an object; null for one without a prototype. */
export function classOf(object: object): string | null {
  const first = getPrototypeOf(object) as object | null
  if (first === null) return null
  let prototype: object | null = first
  for (let count = 0; prototype !== null && count < prototypesRead; count += 1) {
    const Class: unknown = getOwnPropertyDescriptor(prototype, 'constructor')?.value
    if (typeof Class === 'function' && ownValue(Class, 'prototype') === prototype) {
      const name = nameOf(Class)
      if (name !== '') return name
    }
    prototype = getPrototypeOf(prototype) as object | null
  }
  return 'Object <[Object: null prototype] {}>'
}

function ownValue(object: object, property: string): unknown {
  return getOwnPropertyDescriptor(object, property)?.value as unknown
}

function nameOf(value: object): string {
  const name = ownValue(value, 'name')
  return typeof name === 'string' ? sliceText(name, 0, nameCharacters) : ''
}

/** The object's `Symbol.toStringTag`, unless it is shown as a property or is no text. */
export function toStringTagOf(object: object, showHidden: boolean): string {
  let tag: unknown
  try {
    tag = (object as Record<symbol, unknown>)[toStringTag]
  } catch {
    return ''
  }
  if (typeof tag !== 'string' || tag === '') return ''
  const property = getOwnPropertyDescriptor(object, toStringTag)
  const isShown = property !== undefined && (showHidden || property.enumerable === true)
  return isShown ? '' : sliceText(tag, 0, nameCharacters)
}

const { toStringTag } = Symbol

/** The beginning of an object's text: the name of its class, its size, and its tag if that says more. */
export function prefixOf(name: string | null, tag: string, fallback: string, size = ''): string {
  if (name === null) {
    return `[${fallback}${size}: null prototype] ${tag !== '' && fallback !== tag ? `[${tag}] ` : ''}`
  }
  return `${name}${size} ${tag === '' || namesTag(name, tag) ? '' : `[${tag}] `}`
}

/** Whether the name of a class has the tag as a word of its own. */
function namesTag(name: string, tag: string): boolean {
  const at = indexIn(name, tag)
  const next = name[at + tag.length]
  return at !== -1 && (next === undefined || next !== lowerCase(next))
}

/** The prefix of an object that has no form of its own. */
export function plainPrefixOf(object: object, name: string | null, tag: string): string {
  return prefixOf(name, tag, name === null ? builtInTagOf(object, tag) : '')
}

function builtInTagOf(object: object, tag: string): string {
  const builtIn = sliceText(tagOf(object), '[object '.length, -1)
  return builtIn === tag ? 'Object' : builtIn
}

export function functionText(value: object, name: string | null, tag: string): string {
  return isClass(value) ? classText(value, name, tag) : plainFunctionText(value, name, tag)
}

function isClass(value: object): boolean {
  const text = functionToText(value as Function)
  if (indexIn(sliceText(text, 0, 5), 'class') !== 0 || text[text.length - 1] !== '}') return false
  // A method may have this name.
  const rest = trimText(sliceText(text, 5, 100))
  return rest[0] !== '('
}

function classText(value: object, constructor: string | null, tag: string): string {
  let text = `class ${nameOf(value) || '(anonymous)'}`
  if (constructor !== 'Function' && constructor !== null) text += ` [${constructor}]`
  if (tag !== '' && constructor !== tag) text += ` [${tag}]`
  if (constructor === null) return `[${text} extends [null prototype]]`
  const parent = nameOf(getPrototypeOf(value) as object)
  return parent === '' ? `[${text}]` : `[${text} extends ${parent}]`
}

function plainFunctionText(value: object, constructor: string | null, tag: string): string {
  const kind = kindOf(tagOf(value))
  const name = nameOf(value)
  let text = `[${kind}${constructor === null ? ' (null prototype)' : ''}${name === '' ? ' (anonymous)' : `: ${name}`}]`
  if (constructor !== kind && constructor !== null) text += ` ${constructor}`
  return tag !== '' && constructor !== tag ? `${text} [${tag}]` : text
}

function kindOf(tag: string): string {
  switch (tag) {
    case '[object AsyncFunction]':
      return 'AsyncFunction'
    case '[object GeneratorFunction]':
      return 'GeneratorFunction'
    case '[object AsyncGeneratorFunction]':
      return 'AsyncGeneratorFunction'
    default:
      return 'Function'
  }
}
