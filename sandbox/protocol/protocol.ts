/**
 * The frames between the worker and a sandbox process. A frame is a flat JSON object of strings and numbers. JSON from
 * bot code stays a string in it, so that neither side parses it before its size is known.
 */

import type { BundleKind, ClientOperation, FailureReason, Limits } from './contract.ts'
import type { ScriptName } from '../modules/table.ts'
import type { GroupName } from '../prelude/groups.ts'

/** Maximum size of a frame that each side accepts, in bytes. A larger frame ends the channel. */
export const maximumBytesFromProcess = 32 * 1024 * 1024
export const maximumBytesToProcess = 512 * 1024 * 1024

/** How many parts of a stream may be sent before the reader has taken them. */
export const creditParts = 4

/** How many times a run may read a source from its beginning. */
export const maxReadings = 16

export type ToProcess =
  | Start
  /** `within` is the run that called this one, or empty; `hook` names the function that begins, or is empty. */
  | { type: 'run'; run: string; within: string; bundle: string; hook: string; task: string; limits: Limits }
  | { type: 'inspect'; run: string; bundle: string; limits: Limits }
  /** A script of Node's modules, which precedes the first bundle that needs it. */
  | { type: 'module'; name: ScriptName; program: string }
  | { type: 'code'; bundle: string; source: BundleSource }
  | { type: 'environment'; bundle: string; environment: Record<string, string> }
  | { type: 'reply'; run: string; call: string; reply: string }
  /**
   * `answer` is the JSON of a `FetchAnswer` without its body, or of a `FetchFailure`. If its `streams` is set, the body
   * is the stream `fetch/<fetch>`.
   */
  | { type: 'fetched'; run: string; fetch: string; answer: string; body: string }
  /** A part of a stream. `failure` is the JSON of a `FetchFailure`, or empty; only the last part has one. */
  | { type: 'part'; run: string; stream: string; data: string; isBase64: 0 | 1; isLast: 0 | 1; failure: string }
  /** The worker has room for so many further parts of the body of a request. */
  | { type: 'wanted'; run: string; fetch: string; parts: number }
  /** The run waits for a reply that does not come, and has to end as interrupted. */
  | { type: 'interrupt'; run: string; reason: string }
  | { type: 'ping' }

export interface Start {
  type: 'start'
  addon: string
  inside: string
  groups: Record<GroupName, string>
  operations: ClientOperation[]
  /** Memory limits of the process: see `ProcessMemory`. */
  softBytes: number
  isolates: number
}

/** The contents of an isolate. */
export interface BundleSource {
  kind: BundleKind
  code: string
  environment: Record<string, string>
  /** The scripts of Node's modules that it needs. */
  modules: ScriptName[]
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

/** The reason that a process reports, or `crashed` for an unknown one. */
export function toFailureReason(reason: string): FailureReason {
  return reasons.includes(reason) ? (reason as FailureReason) : 'crashed'
}
