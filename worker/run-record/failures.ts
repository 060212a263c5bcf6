import type { FailureReason, LogLine, Outcome } from '#sandbox/protocol/contract.ts'
import { toSourceStack } from '#sandbox/compiler/source-map.ts'
import { limitHint } from '#shared/config/code-limits.ts'
import type { Code } from '../code/bundles.ts'
import type { SourceMaps } from '../code/source-maps.ts'

/** Why an event failed, for the event and for the bot's log. */
export interface Failure {
  /** One line. */
  reason: string
  /** With positions in the author's files where they are known, and the causes of the error. */
  details: string
  /** The exceeded limit, or `error`. */
  kind: FailureReason
  /** The hook or other function that failed, where it is known. */
  hook?: string
}

const reasonCharacters = 2000

/** A failure with the given text. */
export function toFailure(reason: string, details = reason): Failure {
  return { reason: reason.slice(0, reasonCharacters), details, kind: 'error' }
}

/** Functions with one purpose each, so their names in a failure would add nothing. */
const entryPoints = ['register', 'unregister', 'handler']

/**
 * An error in one line, with its cause first: libraries wrap the informative error into others.
 *
 * @param stack the lines below the error, its causes included (`sandbox/isolate/causes.ts`)
 */
function withCauseFirst(name: string, message: string, stack: string): string {
  const own = `${name}: ${message}`
  const cause = deepestCause(stack)
  if (cause === undefined) return own
  const causeMessage = cause.slice(cause.indexOf(': ') + 1).trim()
  return own.includes(causeMessage) ? own : `${cause}, which led to ${own}`
}

/** Of an aggregate's errors, only the first counts. */
function deepestCause(stack: string): string | undefined {
  let deepest: string | undefined
  for (const line of stack.split('\n')) {
    const [, ordinal, cause] = /^(?:Caused by|Error (\d+) of \d+): (.+)$/.exec(line) ?? []
    if (ordinal !== undefined && ordinal !== '1') break
    deepest = cause ?? deepest
  }
  return deepest
}

/** Maximum of mapped frames in a run's log: file names may be much longer than the positions that they replace. */
const maxFramesNamed = 1000

/** Maps the stacks in a run's log to the author's files. */
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

/** Describes a failed run: its hook and error, or the limit that it exceeded and how to raise it. */
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
      ? `${where}${withCauseFirst(name, message, stack)}`
      : `${reason}: ${where}${message}${limitHint(reason, name)}`
  const frames = stack === '' ? '' : toSourceStack(stack, await sourceMaps.of(code)).replace(/^\n/, '')
  const details = stack === '' ? what : `${what}\n${frames}`
  return { ...toFailure(what, details), kind: reason, ...(hook !== undefined && { hook }) }
}
