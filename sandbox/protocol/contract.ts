/**
 * The contract between the worker and the sandbox. Everything here is plain JSON: nothing else crosses the boundary.
 *
 * A run has a type per layer: `RunRequest` is the worker's request, `RunHandle` (host/) follows it in the worker,
 * `ProcessRun` (child/) is the run in its sandbox process, `KernelRun` (isolate/) the run in its isolate.
 *
 * A *bundle* is one version of the code of a bot or an integration, with its environment. A *run* is one event handled,
 * or one function called, by a bundle. Runs of one bundle share its isolate and interleave at their awaits; bundles never
 * share an isolate.
 */

import type { CompileLimits, Compiler } from '../compiler/contract.ts'
import type { IsolationLayer } from '../isolation/names.ts'

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

/**
 * How a bundle is called, and what it finds around it. `native`: its hooks, actions and other functions are called with
 * one argument that has a `client`, among the globals of the web. `sdk`: its `handler` is called with requests, and it
 * finds what the public SDK and its HTTP client need as well: `process`, `require` and the like.
 */
export type BundleKind = 'native' | 'sdk'

export interface Bundle {
  /** Names for ever the code, its environment, and whom it runs for: the same id always means the same isolate. */
  id: string
  /** The owner of the code. All bundles of a bot run in the same process slot. */
  botId: string
  /** Which upload it is, whatever environment it is given: what is held against it does not follow the next one. */
  codeId?: string
  /** The installed integration whose code it is; absent when it is the bot's own. */
  installationId?: string
  /** A CommonJS script: it assigns to `module.exports`. */
  code: string
  /** Default: `native`. */
  kind?: BundleKind
  /**
   * `process.env` of an SDK bundle, where `fetch` of the origin of `BP_API_URL` is a call of the host, `BP_TOKEN` is
   * replaced by one that names the run, and `BP_LOG_FORMAT=json` has its lines read as the SDK writes them. Of a native
   * bundle, `env` in the argument of the functions that get a context.
   */
  environment?: Record<string, string>
}

export interface Limits {
  /** Heap of the isolate, in megabytes. */
  memoryMegabytes: number
  /** Processor time of one run, in milliseconds, waiting excluded. */
  cpuMilliseconds: number
  /** Time of one run from start to end, in milliseconds, waiting included. */
  wallMilliseconds: number
  /** Processor time to evaluate the bundle, in milliseconds. */
  loadMilliseconds: number
  /** Calls to the host in one run. */
  hostCalls: number
  /** Concurrent calls to the host in one run; further ones wait inside the isolate. */
  hostCallsAtOnce: number
  /** Characters of one call's JSON. */
  hostCallCharacters: number
  /** Outbound requests in one run tree, or in all runs of an event: see `RunRequest.eventFetches`. */
  fetches: number
  /** Concurrent outbound requests in one run; further ones wait inside the isolate. */
  fetchesAtOnce: number
  /** Characters of one such request's JSON. */
  fetchCharacters: number
  /** Characters of a run's result as JSON. */
  resultCharacters: number
  logLines: number
  logCharacters: number
  /** Timers alive at once in one run. */
  timers: number
}

/** The stages at which a bot's hooks run; `shared/models/bot-code.ts` says when. */
export interface EventTask {
  kind: 'event'
  /** The `event` object as JSON; `createdOn` is an ISO 8601 string and becomes a `Date` inside. */
  event: JsonObject
  /** Hook stages in the order they run, for instance `['beforeIncomingMessage', 'afterIncomingMessage']`. */
  stages: string[]
  /** A stage that runs when the others are through or were stopped, but not when one failed: `afterTurnEnd`. */
  finally?: string
  /** What the ids of its message streams begin with: its own, and the same when the event is run again. */
  streamPrefix: string
}

export interface ActionTask {
  kind: 'action'
  name: string
  input: JsonObject
  /** The event the action is called for. Ignored when `within` is set. */
  event: JsonObject
  /**
   * The id of the run that called the action. The action then runs in that run's isolate, sees the very same `event`
   * object, and draws on the same limits and deadline.
   */
  within?: string
  /** As an event's: its own, not that of the run that called it. */
  streamPrefix: string
}

/**
 * A call of a function that the bundle exports. What it returns is the result, `{}` when it returns nothing. The result
 * of an SDK bundle's is a `HandlerResponse`.
 */
export interface CallTask {
  kind: 'call'
  /**
   * Where the function is, for instance `['actions', 'send']`. A function met on the way is the one: a channel may be
   * one function for all types of messages.
   */
  path: string[]
  /** Whether there may be no such function. Then the result is `{}`. */
  optional?: boolean
  argument: JsonObject
  /** A field of the argument that gets a method `stream`, which reads the run's source of that name. */
  streamed?: {
    field: string
    /** Why the field's `body` is left out, for those who look for it all the same. */
    refusal?: string
  }
  /** Whether `client`, `logger` and `env` are added to the argument. */
  addsContext: boolean
  /** As an action's. */
  within?: string
  streamPrefix: string
}

/** What the handler of an SDK bundle answers to a request. */
export type HandlerResponse = {
  /** From 100 to 599. */
  status: number
  headers: Record<string, string>
  body?: string
}

export type Task = EventTask | ActionTask | CallTask

/** Requests that all runs of an event have made, in whatever isolates. */
export interface FetchCount {
  fetches: number
}

/** What the worker asks the sandbox to run. */
export interface RunRequest {
  /** Chosen by the caller; unique among the runs in flight. */
  id: string
  bundle: Bundle
  task: Task
  limits: Limits
  /** Answers what the bot asks of the platform during this run. */
  host: Host
  /** Makes its requests to the world outside; without it, none can be made. */
  fetch?: HostFetch
  /** Counts against `limits.fetches` in every run of the event; of its run tree alone when absent. */
  eventFetches?: FetchCount
  /** What it may read in parts, by name. Each reading begins anew. */
  sources?: Record<string, () => ByteSource>
  /** Receives each line of the log at once, except for dropped lines. */
  onLog?: (line: LogLine) => void
}

/** A call of the platform's API from inside a run. */
export interface HostCall {
  method: string
  path: string
  query?: JsonObject
  body?: Json
}

export interface HostReply {
  status: number
  body: Json
}

/** There is no reply, through no fault of the run: it ends as interrupted, and those that it called with it. */
export interface Interruption {
  interrupted: string
}

/** How a bot reaches the platform. It always resolves: an error is a reply with its status. */
export type Host = (call: HostCall) => Promise<HostReply | Interruption>

/** A request to the world outside. */
export interface FetchRequest {
  method: string
  /** An absolute URL. */
  url: string
  headers: Record<string, string>
  redirect: 'follow' | 'error' | 'manual'
  /** Text, or base64 where `isBase64` says so. */
  body?: string
  isBase64?: boolean
  /** Whether the body of the answer may come in parts. */
  streams?: boolean
}

export interface FetchAnswer {
  status: number
  statusText: string
  /** Whose answer it is, after redirects. */
  url: string
  /** Names in lower case; one that came more than once is there more than once. */
  headers: [name: string, value: string][]
  /** Text where the bytes are UTF-8, else base64. */
  body: string
  isBase64: boolean
}

/** No answer came, or none that may be given. */
export interface FetchFailure {
  /** One word, for programs. `limit`: the event has made all of its requests, which ends the run. */
  failure: string
  /** For the author of the bot: what is wrong, and what to do. */
  message: string
}

/** An answer whose body comes in parts, as it arrives. */
export interface FetchStream extends Omit<FetchAnswer, 'body' | 'isBase64'> {
  parts: ByteSource
}

/**
 * Bytes in chunks of any size, read no faster than they are asked for. It never rejects: a failure is its last item. Who
 * wants no more of it calls `return`.
 */
export type ByteSource = AsyncIterable<Uint8Array | FetchFailure>

/**
 * How a bot reaches the world outside. It always resolves. The signal says that nobody waits any more for the answer, or
 * for the rest of one that streams.
 */
export type HostFetch = (
  request: FetchRequest,
  signal: AbortSignal,
) => Promise<FetchAnswer | FetchStream | FetchFailure>

export interface LogLine {
  /** ISO 8601, as the sandbox process saw it. */
  timestamp: string
  level: 'debug' | 'info' | 'warn' | 'error'
  message: string
}

export interface RunError {
  name: string
  message: string
  /**
   * Frames of the bundle only; positions are those of `bundle.code`, the file is called `bot.js`. Below them each cause of
   * the error with its own.
   */
  stack?: string
}

/** Why a run failed, by its own doing. `error` is a throw; the others name the limit that was met. */
export type FailureReason =
  | 'error'
  | 'timeout'
  | 'cpu'
  | 'memory'
  | 'hostCalls'
  | 'network'
  | 'result'
  | 'timers'
  | 'crashed'

interface Ended {
  logs: LogLine[]
  /** Processor time spent inside the isolate, in milliseconds. */
  cpuMilliseconds: number
  /** The hooks and other functions that were active, in order; empty when the process died before it reported. */
  hooks: HookStart[]
}

/** A function of the bundle that came to work, or was at work again after one that it had called. */
export interface HookStart {
  name: string
  /** Milliseconds since the run began, as the worker has it: right to the time that a frame takes. */
  start: number
}

export type Outcome =
  | (Ended & {
      status: 'done'
      /** For an event: whether a hook stopped the pipeline. For an action: its output. */
      result: Json
      /** `event.state` as the run left it. */
      state: JsonObject
    })
  /** `hook` is the name of the hook or action that failed, where it is known. */
  | (Ended & { status: 'failed'; reason: FailureReason; error: RunError; hook?: string })
  /** Ended through no fault of its own (its process was killed because of a neighbour): run it again. */
  | (Ended & { status: 'interrupted'; reason: string })

/** What a bundle turns out to be when it is evaluated once, in an isolate of its own that is then thrown away. */
export type Inspection =
  | {
      status: 'accepted'
      /** `sdk` when it was to be inspected as such and has a `handler`; of such a bundle, no more is known. */
      kind: BundleKind
      /** Names in `exports.hooks`, each a function or a list of functions. */
      hooks: string[]
      actions: string[]
      /** Those of `register`, `unregister` and `handler` that are exported. */
      exports: string[]
      /** Names in `exports.channels`. */
      channels: string[]
      /** `exports.retry` as it is, for the caller to validate; absent when the bundle declares none. */
      retry?: Json
    }
  /** `hook` is the name of the hook, action, channel or other function at fault, where it is one. */
  | { status: 'refused'; reason: FailureReason; error: RunError; hook?: string }
  | { status: 'interrupted'; reason: string }

/** `hardened` trusts nobody. `jit` is for operators who trust the authors of their bots: faster, with more to attack. */
export type Profile = 'hardened' | 'jit'

/** A platform operation that bot code reaches as `client.<name>(input)`. */
export interface ClientOperation {
  name: string
  method: string
  /** With `{parameters}` that are taken from the input; the rest goes to the query for GET and DELETE, else the body. */
  path: string
}

export interface SandboxOptions {
  /** How many processes hold isolates. */
  processes: number
  /** What these processes are to hold together, in megabytes. Default: 320 each. */
  memoryMegabytes?: number
  /** Of each process that compiles an upload. */
  compile?: Partial<CompileLimits>
  /** Default: `hardened`. */
  profile?: Profile
  /** Isolation around the processes without which the sandbox does not open. */
  require?: readonly IsolationLayer[]
  operations: ClientOperation[]
  /** Hook names a bundle may declare. */
  hooks: readonly string[]
  log: SandboxLog
  /** Code is moved to quarantine, or out of service. Here it holds already; elsewhere, the caller sees to it. */
  onSuspension?: (suspension: CodeSuspension) => void
  watch?: SandboxWatch
  /** When a process is replaced in good health; the defaults are for everybody but tests. */
  recycling?: Partial<Recycling>
}

/** How a run got its isolate: it was there; it was made ahead of time, without a bot; it had to be made. */
export type IsolateStart = 'warm' | 'spare' | 'cold'

/** Why a sandbox process came to its end that was not asked to. */
export type KillCause =
  /** It ended by itself, or something outside ended it. */
  | 'ended'
  | 'start'
  | 'heartbeat'
  /** A run outlived its deadline. */
  | 'deadline'
  /** A thread in it could not be stopped. */
  | 'stuck'
  | 'memory'
  /** It said what it may not say, or too much of it. */
  | 'protocol'

/** Told what happens in the sandbox, for those who count it. */
export interface SandboxWatch {
  started(kind: IsolateStart, count: number): void
  killed(cause: KillCause): void
}

/** Memory of the processes of one slot, or of all processes in quarantine. */
export interface PlaceMemory {
  place: string
  residentBytes: number
}

/** What becomes of code that has sandbox processes killed. */
export interface CodeSuspension {
  botId: string
  codeId: string
  installationId?: string
  /** `quarantine`: it runs in a process of its own. `disabled`: it runs no more. */
  place: 'quarantine' | 'disabled'
  /** For the author of the bot: what happened, and what to do. */
  reason: string
}

/** What a sandbox process may reach before another one takes its place. */
export interface Recycling {
  milliseconds: number
  runs: number
  /** How long it may exceed its memory, while it disposes idle isolates, ten a second. */
  overweightMilliseconds: number
  /** One younger than this is not replaced for its memory: its successor may come to need as much. */
  minMilliseconds: number
}

/** Where the sandbox reports what the operator should know: kills, restarts, isolation layers. */
export type SandboxLog = (level: 'info' | 'warn' | 'error', message: string, details?: object) => void

export interface Sandbox {
  /** Runs to an outcome; never rejects because of what the bundle does. */
  run(run: RunRequest): Promise<Outcome>
  /** Evaluates a bundle once and says what it declares. */
  inspect(bundle: Bundle, limits: Limits): Promise<Inspection>
  /** Compiles what is to be run, without running it. */
  readonly compiler: Compiler
  /** What the processes hold, as they said at their last heartbeat. */
  memory(): PlaceMemory[]
  /** Kills all processes; runs in flight end as interrupted. */
  close(): Promise<void>
}
