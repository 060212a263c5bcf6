/**
 * The frames between the worker and a sandbox process. A frame is a flat JSON object of strings and numbers; JSON that
 * bot code made stays text in it, so that nobody parses it before its size is known.
 */

import type { BundleKind, ClientOperation, FailureReason, Limits } from './contract.ts'
import type { GroupName } from '../prelude/groups.ts'

/** The largest frames that each side accepts, in bytes; whoever sends a larger one is broken. */
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

/** What a sandbox process may say. Checked field by field: after an escape it says whatever it likes. */
const fields = {
  ready: {},
  /**
   * With its resident memory, in bytes, and how many runs it has begun since it started: in isolates that were there, in
   * the one that was made ahead of time, and in others.
   */
  pong: { rss: 'number', warm: 'number', spare: 'number', cold: 'number' },
  /** It needs the code of a bundle. */
  code: { bundle: 'string' },
  call: { run: 'string', call: 'string', request: 'string' },
  fetch: { run: 'string', fetch: 'string', request: 'string' },
  /** Nobody waits any more for what this request brings. */
  abortFetch: { run: 'string', fetch: 'string' },
  /**
   * So many more parts of a stream may come: `creditParts` may be on their way at once. `form` is `text` where texts are
   * preferred, else `bytes`; it is that of the first such frame.
   */
  pull: { run: 'string', stream: 'string', form: 'string', parts: 'number' },
  /** Nobody reads this stream any more. */
  cancel: { run: 'string', stream: 'string' },
  log: { run: 'string', level: 'string', message: 'string', timestamp: 'string' },
  /**
   * `hooks` is JSON, or empty: how many milliseconds the run took, and what was at work, as pairs of its name and the
   * milliseconds since the run's begin.
   */
  done: { run: 'string', result: 'string', state: 'string', cpu: 'number', hooks: 'string' },
  failed: {
    run: 'string',
    reason: 'string',
    name: 'string',
    message: 'string',
    stack: 'string',
    hook: 'string',
    cpu: 'number',
    hooks: 'string',
  },
  interrupted: { run: 'string', reason: 'string', cpu: 'number' },
  /** A turn of this run takes long: should the process die now, this run is the suspect. */
  long: { run: 'string' },
  /** That turn is over. */
  over: { run: 'string' },
  /**
   * A thread can not be stopped: only the end of the process frees it. It runs code of this bundle, in a turn that took so
   * many milliseconds until it was told to stop, and as many were waited since.
   */
  stuck: { bundle: 'string', reason: 'string', turn: 'number', waited: 'number' },
} as const

type FieldType = { string: string; number: number }
type Fields = typeof fields

export type FromProcess = {
  [Type in keyof Fields]: { type: Type } & {
    -readonly [Field in keyof Fields[Type]]: FieldType[Fields[Type][Field] & keyof FieldType]
  }
}[keyof Fields]

/** Whether a value that a sandbox process sent is a frame. */
export function isFromProcess(value: unknown): value is FromProcess {
  if (typeof value !== 'object' || value === null || !('type' in value)) return false
  const frame = value as Record<string, unknown>
  const type = frame['type']
  if (typeof type !== 'string' || !Object.hasOwn(fields, type)) return false
  return Object.entries(fields[type as keyof Fields]).every(([field, kind]) => typeof frame[field] === kind)
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
