import { apply, getOwnPropertyDescriptor, isObject, sliceText } from '../primordials.ts'
import { redact } from '../secrets.ts'
import { sortList } from './built-ins.ts'
import { addProperties } from './entries.ts'
import { formOf, type Form } from './forms.ts'
import {
  beginInspection,
  colors,
  defaultOptions,
  isAround,
  knownCircle,
  numberOfCircle,
  optionsFor,
  spend,
  styles,
  type Inspection,
  type InspectOptions,
} from './inspection.ts'
import { layOut } from './layout.ts'
import { createList } from './lists.ts'
import { classOf, plainPrefixOf, toStringTagOf } from './names.ts'
import { primitiveText } from './primitives.ts'
import { indentLines } from './text.ts'

/** A line of the log is cut after 4,096 characters. */
const logCharacters = 10_000
/** So that one at the end of what is shown is recognized. */
const longestSecret = 10_000
const inspectionCharacters = 200_000

/**
 * Shows a value as Node's `util.inspect`: it calls the value's own function for it, and no getter. The text has some
 * 200,000 characters at most, and objects are shown to a depth of 200.
 */
export const inspect = Object.assign(inspectValue, {
  custom: Symbol.for('nodejs.util.inspect.custom'),
  colors,
  styles,
  defaultOptions,
})

const { custom } = inspect

function inspectValue(value: unknown, options?: unknown, depth?: unknown, hasColors?: unknown): string {
  const given = isObject(options) ? options : undefined
  const older: Partial<InspectOptions> = {}
  if (typeof options === 'boolean') older.showHidden = options
  if (depth !== undefined) older.depth = depth as number | null
  if (hasColors !== undefined) older.colors = Boolean(hasColors)
  return show(begin(given, older, inspectionCharacters), value, 0)
}

/** As `inspect`, with options beside those that are given. */
export function inspectWith(value: unknown, options: object | undefined, overrides: Partial<InspectOptions>): string {
  return show(begin(options, overrides, inspectionCharacters), value, 0)
}

/** As `inspect`, for a line of the log: a value whose own function throws is named instead. */
export function inspectForLog(value: unknown, overrides: Partial<InspectOptions> = {}, options?: unknown): string {
  const inspection = begin(isObject(options) ? options : undefined, overrides, logCharacters)
  inspection.isForLog = true
  inspection.redact = (text) => redact(sliceText(text, 0, logCharacters + longestSecret))
  return show(inspection, value, 0)
}

function begin(given: object | undefined, overrides: Partial<InspectOptions>, characters: number): Inspection {
  return beginInspection(given, overrides, characters, { show, inspect })
}

/** Stands for a value that cannot be read. */
export const unreadable = '[The value could not be formatted]'

function show(inspection: Inspection, value: unknown, depth: number): string {
  // Each value may come on a line of its own.
  inspection.left -= inspection.indentation
  if (inspection.left <= 0) return '...'
  const isPrimitive = typeof value !== 'object' && typeof value !== 'function'
  if (isPrimitive || value === null) return primitiveText(inspection, value, inspection.stylize)
  const { around, indentation } = inspection
  try {
    return showObject(inspection, value, depth)
  } catch (error) {
    // The traps of a proxy threw, or the stack is at its end.
    if (inspection.customFailed && !inspection.isForLog) throw error
    inspection.around = around
    inspection.indentation = indentation
    return spend(inspection, unreadable)
  }
}

function showObject(inspection: Inspection, object: object, depth: number): string {
  const own = inspection.customInspect ? showByItself(inspection, object, depth) : undefined
  if (own !== undefined) return own
  if (isAround(inspection, object)) {
    return inspection.stylize(spend(inspection, `[Circular *${numberOfCircle(inspection, object)}]`), 'special')
  }
  const name = classOf(object)
  const tag = toStringTagOf(object, inspection.showHidden)
  const form = formOf({ inspection, object, name, tag })
  if (isEmpty(form)) return form.hasBracket === true ? emptyBracket(inspection, form) : styled(inspection, form)
  if (depth > inspection.depth) {
    if (form.baseIsEnough === true) return styled(inspection, form)
    const prefix = sliceText(plainPrefixOf(object, name, tag), 0, -1)
    return inspection.stylize(spend(inspection, name === null ? prefix : `[${prefix}]`), 'special')
  }
  return showEntries(inspection, object, form, depth + 1)
}

function styled({ stylize }: Inspection, { base = '', style }: Form): string {
  return style === undefined ? base : stylize(base, style)
}

function isEmpty({ keys, addEntries, hasNoEntries }: Form): boolean {
  return keys.length === 0 && (addEntries === undefined || hasNoEntries === true)
}

function emptyBracket(inspection: Inspection, { opening, closing = '}' }: Form): string {
  return spend(inspection, opening + closing)
}

function showEntries(inspection: Inspection, object: object, form: Form, depth: number): string {
  const { base = '', opening, closing = '}', keys, isList = false, isNumeric = false } = form
  const { around, sorted } = inspection
  inspection.left -= opening.length + 1
  inspection.around = { object, around }
  inspection.currentDepth = depth
  const entries = createList<string>()
  form.addEntries?.(entries, depth)
  addProperties(inspection, object, keys, depth, entries)
  inspection.around = around
  const circle = knownCircle(inspection, object)
  if (sorted !== false && !isList) sortList(entries as string[], typeof sorted === 'function' ? sorted : undefined)
  const reference = circle === 0 ? '' : inspection.stylize(`<ref *${circle}>`, 'special')
  const start = reference !== '' && base !== '' ? `${reference} ${base}` : reference + base
  return layOut(inspection, { base: start, opening, closing, entries, isList, isNumeric }, depth)
}

/** The text of an object's own function for it; undefined if it has none, or returns the object itself. */
function showByItself(inspection: Inspection, object: object, depth: number): string | undefined {
  const method = (object as { [custom]?: unknown })[custom]
  if (typeof method !== 'function' || method === inspection.inspect || isPrototype(object)) return undefined
  let shown: unknown
  try {
    const given = [inspection.depth - depth, optionsFor(inspection), inspection.inspect]
    shown = apply(method, object, given)
  } catch (error) {
    inspection.customFailed = true
    throw error
  }
  if (shown === object) return undefined
  if (typeof shown !== 'string') return show(inspection, shown, depth)
  return indentLines(spend(inspection, inspection.redact(shown)), inspection.indentation)
}

function isPrototype(object: object): boolean {
  const Class: unknown = getOwnPropertyDescriptor(object, 'constructor')?.value
  return typeof Class === 'function' && getOwnPropertyDescriptor(Class, 'prototype')?.value === object
}
