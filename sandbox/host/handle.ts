import type { Bundle, FailureReason, Interruption, Limits, LogLine, RunError } from '../protocol/contract.ts'
import type { ToProcess } from '../protocol/protocol.ts'

/** What a sandbox process works on for the worker: a run, or an inspection. Each ends exactly once. */
export interface Handle {
  readonly id: string
  readonly bundle: Bundle
  readonly limits: Limits
  /** The id of the run whose limits this one draws on: its own, unless a run called it. What ends one ends them all. */
  readonly runTree: string
  readonly ended: boolean
  /** The frame that begins it. */
  begin(): ToProcess
  /** False when the log is full. */
  log(line: LogLine): boolean
  /** Answers a call of the platform, if it can be. Never rejects. */
  answer(request: string): Promise<string | Interruption>
  /** Makes a request to the world outside, known by the name `fetch` until it is answered. Never rejects. */
  fetch(fetch: string, request: string): Promise<FetchedTexts>
  /** Takes such a request back. */
  abortFetch(fetch: string): void
  /** Allows more parts of a stream, each of which is given to `send`. False when there is no such stream, or no room. */
  pull(wanted: Wanted, send: SendPart): boolean
  /** Ends a stream. False when there is none. */
  cancel(stream: string): boolean
  /** `hooks` is the text of the frame. */
  done(result: string, state: string, cpuMilliseconds: number, hooks: string): void
  fail(failure: Failure, cpuMilliseconds: number, hooks?: string): void
  interrupt(reason: string, cpuMilliseconds: number): void
}

/** What a process wants of a stream: see the frame `pull`. */
export interface Wanted {
  stream: string
  form: string
  parts: number
}

/** A part of a stream, as it crosses: see the frame `part`. */
export type Part = Pick<Extract<ToProcess, { type: 'part' }>, 'data' | 'isBase64' | 'isLast' | 'failure'>

/** Sends a part of a stream; resolves when there is room for another one. */
export type SendPart = (stream: string, part: Part) => Promise<void> | undefined

/** What a request brought, as it crosses: see the frame `fetched`. */
export interface FetchedTexts {
  answer: string
  body: string
}

export interface Failure {
  reason: FailureReason
  error: RunError
  /** The function at fault, for an inspection. */
  hook?: string
}

/** The failure of a run that took its process down, or that outlived its deadline. */
export function failureOutside(reason: 'crashed' | 'timeout'): Failure {
  return reason === 'crashed'
    ? { reason, error: { name: 'CrashError', message: 'The sandbox process crashed during this run' } }
    : { reason, error: { name: 'TimeoutError', message: 'The run did not end in time and could not be stopped' } }
}
