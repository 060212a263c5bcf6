import { defineProperty, errorToText, indexIn, NativeError, record, sliceText, toText } from './primordials.ts'

const stackCharacters = 4000

/** The lines of a stack trace whose position is in the bundle. */
export function botFrames(stack: string): string {
  let frames = ''
  let start = 0
  while (start < stack.length && frames.length < stackCharacters) {
    const newline = indexIn(stack, '\n', start)
    const end = newline === -1 ? stack.length : newline
    const line = sliceText(stack, start, end)
    if (indexIn(line, '    at ') === 0 && indexIn(line, 'bot.js:') !== -1) frames += frames === '' ? line : `\n${line}`
    start = end + 1
  }
  return sliceText(frames, 0, stackCharacters)
}

/**
 * Has stacks begin as in Node: with the name and the message that the error has when its stack is first read. V8 alone takes those of
 * its construction, and many libraries set the message afterwards.
 */
export function definePrepareStackTrace(): void {
  defineProperty(NativeError, 'prepareStackTrace', record({ value: formatStack, writable: true, configurable: true }))
}

function formatStack(error: unknown, calls: ArrayLike<unknown>): string {
  let stack: string
  try {
    stack = errorToText(error)
  } catch {
    // A getter of the error throws.
    stack = '<error>'
  }
  for (let index = 0; index < calls.length; index += 1) stack += `\n    at ${toText(calls[index])}`
  return stack
}
