import type { FailureReason, Limits, RunError } from '../protocol/contract.ts'
import { botFrames } from '../isolate/stack.ts'
import { toFailureReason } from '../protocol/protocol.ts'

/** The failure of a run, as in its frame. */
export interface ProcessFailure {
  reason: FailureReason
  error: RunError
  hook?: string
}

/** The failures that this process detects, in words for the author of the bot. */
export const failures = {
  cpu: (limits: Limits) =>
    failure('cpu', 'CpuLimitError', `It used more than its ${limits.cpuMilliseconds} ms of processor time`),
  load: (limits: Limits) =>
    failure(
      'cpu',
      'LoadLimitError',
      `The evaluation of its module used more than ${limits.loadMilliseconds} ms of processor time`,
    ),
  timeout: (limits: Limits) =>
    failure('timeout', 'TimeoutError', `It did not end within ${limits.wallMilliseconds} ms`),
  memory: (limits: Limits) =>
    failure('memory', 'MemoryLimitError', `It used more than its ${limits.memoryMegabytes} MB of memory`),
} as const

function failure(reason: FailureReason, name: string, message: string): ProcessFailure {
  return { reason, error: { name, message } }
}

const nameCharacters = 100
const messageCharacters = 1000
const stackCharacters = 4000

/** Reads a failure that the kernel wrote. */
export function readFailure(reason: string, error: string): ProcessFailure {
  const { hook } = JSON.parse(error) as { hook?: string }
  return { reason: toFailureReason(reason), error: readError(error), ...(hook ? { hook } : {}) }
}

/** Reads an error that the kernel wrote, and cuts overlong texts: only the kernel keeps to the limits. */
export function readError(text: string): RunError {
  const { name, message, stack } = JSON.parse(text) as Partial<RunError>
  return {
    name: cut(name, nameCharacters) || 'Error',
    message: cut(message, messageCharacters),
    ...(stack ? { stack: cut(stack, stackCharacters) } : {}),
  }
}

/** Characters of a thrown value's texts that are read. */
const thrownCharacters = 64_000

/**
 * Describes a value that an isolate threw into this process: a syntax error, or an unhandled rejection of bot code.
 *
 * @param redact hides secrets
 */
export function describeThrown(thrown: unknown, redact: (text: string) => string): RunError {
  const read = (text: unknown) => redact(cut(text, thrownCharacters))
  if (!(thrown instanceof Error)) return { name: 'Error', message: cut(read(String(thrown)), messageCharacters) }
  const name = cut(read(thrown.name), nameCharacters) || 'Error'
  const message = cut(read(thrown.message), messageCharacters)
  // isolated-vm appends the position of a syntax error to its message.
  const match = /^(.*) \[(bot\.js:\d+:\d+)\]$/s.exec(message)
  if (match !== null) return { name, message: match[1]!, stack: `    at ${match[2]}` }
  const stack = botFrames(read(thrown.stack))
  return { name, message, ...(stack === '' ? {} : { stack }) }
}

function cut(text: unknown, characters: number): string {
  return typeof text === 'string' ? text.slice(0, characters) : ''
}
