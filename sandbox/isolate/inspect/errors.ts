import { hasOwn, indexIn, isArray, sliceText, toText } from '../primordials.ts'
import type { Inspection } from './inspection.ts'
import { add, createList, type List } from './lists.ts'
import { prefixOf } from './names.ts'
import { indentLines } from './text.ts'

export type Keys = List<string | symbol>

/** The text of an error, and the keys of its properties that the text does not have. */
export interface ErrorText {
  text: string
  keys: Keys
}

/**
 * Shows an error by its stack, without the frames of the platform.
 *
 * @param given the keys of its properties
 */
export function errorText(
  error: Record<string, unknown>,
  name: string | null,
  tag: string,
  inspection: Inspection,
  given: Keys,
): ErrorText {
  const message = read(error, 'message')
  const errorName = read(error, 'name') ?? 'Error'
  const stack = read(error, 'stack')
  const header = `${textOf(errorName)}${message === '' || message === undefined ? '' : `: ${textOf(message)}`}`
  const whole = typeof stack === 'string' && stack !== '' ? stack : header
  const keys = keysBeside(error, given, whole, { message, name: errorName, showHidden: inspection.showHidden })

  const head = headOf(whole, typeof message === 'string' ? message : '', header)
  const improved = typeof errorName === 'string' ? withClass(head.text, name, errorName, tag) : head.text
  const text = head.frames === '' ? `[${improved}]` : improved + ownFrames(head.frames)
  return { text: indentLines(inspection.redact(text), inspection.indentation), keys }
}

function read(error: Record<string, unknown>, property: string): unknown {
  try {
    return error[property]
  } catch {
    return undefined
  }
}

function textOf(value: unknown): string {
  try {
    return toText(value)
  } catch {
    return ''
  }
}

/** The properties to show below the stack. Those of which it is made are left out, and causes are added. */
function keysBeside(
  error: Record<string, unknown>,
  given: Keys,
  stack: string,
  { message, name, showHidden }: { message: unknown; name: unknown; showHidden: boolean },
): Keys {
  const isShown = (value: unknown) => typeof value !== 'string' || indexIn(stack, value) !== -1
  const keys = createList<string | symbol>()
  let hasCause = false
  let hasErrors = false
  for (let index = 0; index < given.length; index += 1) {
    const key = given[index]!
    hasCause ||= key === 'cause'
    hasErrors ||= key === 'errors'
    const isInStack = key === 'stack' || (key === 'message' && isShown(message)) || (key === 'name' && isShown(name))
    if (showHidden || !isInStack) add(keys, key)
  }
  if (!hasCause && hasOwn(error, 'cause')) add(keys, 'cause')
  if (!hasErrors && hasOwn(error, 'errors') && isArray(read(error, 'errors'))) add(keys, 'errors')
  return keys
}

/** Separates a stack from its header. A message that was changed later stands in the header too. */
function headOf(stack: string, message: string, header: string): { text: string; frames: string } {
  const inHeader = message === '' ? -1 : indexIn(stack, message)
  const start = indexIn(stack, '\n    at', inHeader === -1 ? 0 : inHeader + message.length)
  const text = start === -1 ? stack : sliceText(stack, 0, start)
  const isChanged = start !== -1 && message !== '' && indexIn(text, message) === -1
  return { text: isChanged ? header : text, frames: start === -1 ? '' : sliceText(stack, start) }
}

/** Adds the name of the class, if the header has another one. */
function withClass(header: string, className: string | null, name: string, tag: string): string {
  const next = header[name.length]
  const isRegular = indexIn(header, name) === 0 && (next === undefined || next === ':' || next === '\n')
  const isNamed = sliceText(name, -5) === 'Error'
  // An error of no other class, to which code gave this name.
  if (!isRegular || !isNamed || (className === 'Error' && tag === '')) return header
  const prefix = sliceText(prefixOf(className, tag, 'Error'), 0, -1)
  if (name === prefix) return header
  const rest = sliceText(header, name.length)
  return indexIn(prefix, name) === -1 ? `${prefix} [${name}]${rest}` : prefix + rest
}

/** The lines of a stack, each after a newline, without those in the platform's own programs. */
function ownFrames(stack: string): string {
  let frames = ''
  let start = 1
  while (start < stack.length) {
    const newline = indexIn(stack, '\n', start)
    const end = newline === -1 ? stack.length : newline
    const line = sliceText(stack, start, end)
    if (!isOfPlatform(line)) frames += `\n${line}`
    start = end + 1
  }
  return frames
}

function isOfPlatform(line: string): boolean {
  const isIn = (program: string) => indexIn(line, ` at ${program}:`) !== -1 || indexIn(line, `(${program}:`) !== -1
  return isIn('kernel') || isIn('prelude')
}
