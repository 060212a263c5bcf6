import { inspectForLog } from './inspect/inspect.ts'
import { hasOwn, isArray, isObject, sliceText } from './primordials.ts'
import { redact } from './secrets.ts'
import { botFrames } from './stack.ts'

const deepest = 4
const maxListed = 5
const headCharacters = 300
const allCharacters = 3000

/**
 * Describes the causes of an error, for output below its own stack: its chain of `cause` properties, and the errors in
 * an AggregateError, each with its frames in the bundle. Empty without causes. Getters of the error may throw.
 */
export function describeCauses(error: Record<string, unknown>, depth = 0): string {
  if (depth >= deepest) return ''
  let text = hasOwn(error, 'cause') ? describe('Caused by', error['cause'], depth) : ''
  const errors = hasOwn(error, 'errors') ? error['errors'] : undefined
  if (!isArray(errors)) return text
  for (let index = 0; index < errors.length && index < maxListed && text.length < allCharacters; index += 1) {
    text += describe(`Error ${index + 1} of ${errors.length}`, errors[index], depth)
  }
  return text
}

function describe(label: string, thrown: unknown, depth: number): string {
  if (!isObject(thrown)) return line(label, typeof thrown === 'string' ? thrown : inspectForLog(thrown))
  const { name, message, stack } = thrown
  if (typeof message !== 'string') return line(label, inspectForLog(thrown))
  const head = line(label, `${typeof name === 'string' ? name : 'Error'}: ${message}`)
  const frames = typeof stack === 'string' ? botFrames(redact(stack)) : ''
  return head + (frames === '' ? '' : `\n${frames}`) + describeCauses(thrown, depth + 1)
}

function line(label: string, what: string): string {
  return `\n${label}: ${sliceText(redact(what), 0, headCharacters)}`
}
