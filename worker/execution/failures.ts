import type { FailureReason, LogLine, Outcome } from '#sandbox/protocol/contract.ts'
import { toSourceStack } from '#sandbox/compiler/source-map.ts'
import { limitHint } from '#shared/config/code-limits.ts'
import type { Code } from './bundles.ts'
import type { SourceMaps } from './source-maps.ts'

/** Why an event failed, for the event and for the bot's log. */
export interface Failure {
  /** One line. */
  reason: string
  /** With the author's own file, line and column where there are any, and the causes of the error. */
  details: string
  /** The limit that was met, or `error`. */
  kind: FailureReason
  /** The hook or other function that failed, where it is known. */
  hook?: string
}

const reasonCharacters = 2000

/** A failure in so many words. */
export function toFailure(reason: string, details = reason): Failure {
  return { reason: reason.slice(0, reasonCharacters), details, kind: 'error' }
}

/** Called for one purpose each, which whoever reads of the failure knows: their names would only be in the way. */
const entryPoints = ['register', 'unregister', 'handler']

/**
 * An error in a line, with what led to it first: libraries wrap the error that tells what to do into others that do not.
 *
 * @param stack what stands below the error, its causes included (`sandbox/isolate/causes.ts`)
 */
function causeFirst(name: string, message: string, stack: string): string {
  const own = `${name}: ${message}`
  const cause = deepestCause(stack)
  if (cause === undefined) return own
  const causeMessage = cause.slice(cause.indexOf(': ') + 1).trim()
  return own.includes(causeMessage) ? own : `${cause}, which led to ${own}`
}

/** Of several errors that one stands for, the first counts. */
function deepestCause(stack: string): string | undefined {
  let deepest: string | undefined
  for (const line of stack.split('\n')) {
    const [, ordinal, cause] = /^(?:Caused by|Error (\d+) of \d+): (.+)$/.exec(line) ?? []
    if (ordinal !== undefined && ordinal !== '1') break
    deepest = cause ?? deepest
  }
  return deepest
}

/** Of a run's log: the names of files may be much longer than the positions that they stand for. */
const maxFramesNamed = 1000

/** Has the stacks in a run's log name the author's own files. */
export async function nameSources(sourceMaps: SourceMaps, lines: LogLine[], code: Code): Promise<void> {
  const withFrames = lines.filter(({ message }) => /^ +at .*\bbot\.js:\d/m.test(message))
  if (withFrames.length === 0) return
  const index = await sourceMaps.of(code)
  let named = 0
  for (const line of withFrames) {
    line.message = line.message.replace(/^ +at .*$/gm, (frame) => {
      named += 1
      return named > maxFramesNamed ? frame : toSourceStack(frame, index)
    })
  }
}

/** What a failed run says of itself: where it failed, of what, and for a limit which and who can raise it. */
export async function describeFailure(
  sourceMaps: SourceMaps,
  outcome: Outcome & { status: 'failed' },
  code: Code,
): Promise<Failure> {
  const { reason, error, hook } = outcome
  const { name, message, stack = '' } = error
  const where = hook === undefined || entryPoints.includes(hook) ? '' : `${hook}: `
  const what =
    reason === 'error'
      ? `${where}${causeFirst(name, message, stack)}`
      : `${reason}: ${where}${message}${limitHint(reason, name)}`
  const frames = stack === '' ? '' : toSourceStack(stack, await sourceMaps.of(code)).replace(/^\n/, '')
  const details = stack === '' ? what : `${what}\n${frames}`
  return { ...toFailure(what, details), kind: reason, ...(hook !== undefined && { hook }) }
}
