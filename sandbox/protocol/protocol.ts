/**
 * The frames between the worker and a sandbox process. A frame is a flat JSON object of strings and numbers; JSON that
 * bot code made stays text in it, so that nobody parses it before its size is known.
 */

import type { BundleKind, ClientOperation, FailureReason, Limits } from './contract.ts'
import type { GroupName } from '../prelude/groups.ts'

/** The largest frames that each side accepts, in bytes. A larger one ends the channel. */
export const maximumBytesFromProcess = 32 * 1024 * 1024
export const maximumBytesToProcess = 512 * 1024 * 1024

/** How many parts of a stream, and of how many bytes each, may be sent before its reader has taken them. */
export const creditParts = 4
export const partBytes = 64 * 1024

/** How often a source of a run may be read from its beginning. */
export const maxReadings = 16

export type ToProcess =
  | Start
  /** `within` is the run that called this one, or empty; `hook` names the function that begins, or is empty. */
  | { type: 'run'; run: string; within: string; bundle: string; hook: string; task: string; limits: Limits }
  | { type: 'inspect'; run: string; bundle: string; limits: Limits }
  | { type: 'code'; bundle: string; source: BundleSource }
  | { type: 'reply'; run: string; call: string; reply: string }
  /**
   * `answer` is the JSON of a `FetchAnswer` without its body, or of a `FetchFailure`. Where it says `streams`, the body is
   * the stream `fetch/<fetch>`.
   */
  | { type: 'fetched'; run: string; fetch: string; answer: string; body: string }
  /** Some more of a stream. `failure` is the JSON of a `FetchFailure`, or empty; it comes with the last part only. */
  | { type: 'part'; run: string; stream: string; data: string; isBase64: 0 | 1; isLast: 0 | 1; failure: string }
  /** What the run waits for does not come: it is to end as interrupted. */
  | { type: 'interrupt'; run: string; reason: string }
  | { type: 'ping' }

export interface Start {
  type: 'start'
  addon: string
  inside: string
  groups: Record<GroupName, string>
  operations: ClientOperation[]
  /** What the process may hold: see `ProcessMemory`. */
  softBytes: number
  isolates: number
}

/** What an isolate is loaded with. */
export interface BundleSource {
  kind: BundleKind
  code: string
  environment: Record<string, string>
}

const reasons: readonly string[] = [
  'error',
  'timeout',
  'cpu',
  'memory',
  'hostCalls',
  'network',
  'result',
  'timers',
  'crashed',
] satisfies FailureReason[]

/** The reason a process names, or `crashed` when it names none that exists. */
export function toFailureReason(reason: string): FailureReason {
  return reasons.includes(reason) ? (reason as FailureReason) : 'crashed'
}
