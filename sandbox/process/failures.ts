import type { FailureReason, Limits, RunError } from '../contract.ts'
import { botFrames } from '../inside/stack.ts'
import { toFailureReason } from '../protocol.ts'

/** How a run failed, as its frame tells it. */
export interface ProcessFailure {
  reason: FailureReason
  error: RunError
  hook?: string
}

/** The failures that this process finds, in words for the author of the bot. */
export const failures = {
  cpu: (limits: Limits) =>
    failure('cpu', 'CpuLimitError', `It used more than the ${limits.cpuMilliseconds} ms of processor time it has`),
  load: (limits: Limits) =>
    failure('cpu', 'LoadLimitError', `Its module used more than the ${limits.loadMilliseconds} ms of processor time`),
  timeout: (limits: Limits) =>
    failure('timeout', 'TimeoutError', `It did not end within the ${limits.wallMilliseconds} ms it has`),
  memory: (limits: Limits) =>
    failure('memory', 'MemoryLimitError', `It used more than the ${limits.memoryMegabytes} MB of memory it has`),
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

/** Reads an error that the kernel wrote. It wrote within limits, unless someone else did. */
export function readError(text: string): RunError {
  const { name, message, stack } = JSON.parse(text) as Partial<RunError>
  return {
    name: cut(name, nameCharacters) || 'Error',
    message: cut(message, messageCharacters),
    ...(stack ? { stack: cut(stack, stackCharacters) } : {}),
  }
}

/** Describes what an isolate threw at this process: a syntax error, or a rejection that bot code forgot. */
export function describeThrown(thrown: unknown): RunError {
  if (!(thrown instanceof Error)) return { name: 'Error', message: cut(String(thrown), messageCharacters) }
  const name = cut(thrown.name, nameCharacters) || 'Error'
  // isolated-vm writes the place of a syntax error behind its message.
  const place = /^(.*) \[(bot\.js:\d+:\d+)\]$/s.exec(cut(thrown.message, messageCharacters))
  if (place !== null) return { name, message: place[1]!, stack: `    at ${place[2]}` }
  const stack = botFrames(cut(thrown.stack, 4 * stackCharacters))
  return { name, message: cut(thrown.message, messageCharacters), ...(stack === '' ? {} : { stack }) }
}

function cut(text: unknown, characters: number): string {
  return typeof text === 'string' ? text.slice(0, characters) : ''
}
