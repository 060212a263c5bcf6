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

import type { FlowTask } from './flow-contract.ts'
import type { Json, JsonObject } from './json.ts'

export type { Json, JsonObject }

/**
 * How a bundle is called, and which globals it has. `native`: its hooks, actions and other functions are called with
 * one argument that contains a `client`, and it has the globals of the web. `sdk`: its `handler` is called with
 * requests, and it also has the globals that the public SDK and its HTTP client need: `process`, `require` and the
 * like.
 */
export type BundleKind = 'native' | 'sdk'

/**
 * The address of the platform's API in isolates, which `fetch` answers with calls of the host. No such host exists: a request
 * that left the isolate would reach nothing.
 */
export const platformUrl = 'https://api.isobot.internal'

export interface Bundle {
  /** Identifies the code, its environment and its owner permanently: the same id always means the same isolate. */
  id: string
  /** The bot that owns the code. All bundles of a bot run in the same process slot. */
  botId: string
  /** The upload, whatever its environment. The crash history applies to one upload, and not to the next. */
  codeId?: string
  /** The installed integration that the code belongs to; absent for the bot's own code. */
  installationId?: string
  /** A CommonJS script: it assigns to `module.exports`. */
  code: string
  /** Default: `native`. */
  kind?: BundleKind
  /**
   * For an SDK bundle, its `process.env`: `BP_API_URL` takes the place of `platformUrl`, `BP_TOKEN`, where it is given, is
   * replaced by a token that names the run, and with `BP_LOG_FORMAT=json` its log lines are parsed in the SDK's format. For a native
   * bundle, `env` in the argument of the functions that get a context.
   */
  environment?: Record<string, string>
}

export interface Limits {
  /** Heap of the isolate, in megabytes. */
  memoryMegabytes: number
  /** Processor time of one run, in milliseconds, waiting excluded. */
  cpuMilliseconds: number
  /** Wall time of one run, in milliseconds, waiting included. */
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
  /** Open connections of one run tree; a further one is refused. */
  connectionsAtOnce: number
  /** Characters of one outbound request's JSON. */
  fetchCharacters: number
  /** Characters of a run's result as JSON. */
  resultCharacters: number
  logLines: number
  logCharacters: number
  /** Concurrent timers in one run. */
  timers: number
}

/** An event, with the stages at which a bot's hooks run; `shared/models/bot-code.ts` defines them. */
export interface EventTask {
  kind: 'event'
  /** The `event` object as JSON; `createdOn` is an ISO 8601 string and becomes a `Date` in the isolate. */
  event: JsonObject
  /** Hook stages in the order they run, for instance `['beforeIncomingMessage', 'afterIncomingMessage']`. */
  stages: string[]
  /** The flows, which run after the stages unless a hook has stopped the event. The result is then a `FlowResult`. */
  flow?: FlowTask
  /** A stage that runs when the flows of the conversation were ended, and not just left: `afterConversationEnd`. */
  atFlowEnd?: string
  /** A stage that runs after the others have finished or were stopped, but not after a failure: `afterTurnEnd`. */
  finally?: string
  /** Prefix of the ids of the run's message streams: unique to the event, and the same when the event runs again. */
  streamPrefix: string
}

export interface ActionTask {
  kind: 'action'
  name: string
  input: JsonObject
  /** The event the action is called for. Ignored when `within` is set. */
  event: JsonObject
  /**
   * The id of the run that called the action. The action then runs in the isolate of its caller, gets the same `event`
   * object, and shares its limits and deadline.
   */
  within?: string
  /** As for an event: unique to the action, not that of its caller. */
  streamPrefix: string
}

/**
 * A call of a function that the bundle exports. Its return value is the result; `{}` if it returns nothing. The result
 * of an SDK bundle is a `HandlerResponse`.
 */
export interface CallTask {
  kind: 'call'
  /**
   * The path of the function, for instance `['actions', 'send']`. The first function on the path is called: a channel
   * may be one function for all types of messages.
   */
  path: string[]
  /** Whether the function may be missing. Then the result is `{}`. */
  optional?: boolean
  argument: JsonObject
  /** A field of the argument that gets a method `stream`, which reads the run's source of that name. */
  streamed?: {
    field: string
    /** The error of reading the field's `body`, where the body is left out. */
    refusal?: string
  }
  /** Whether `client`, `logger` and `env` are added to the argument. */
  addsContext: boolean
  /**
   * The values of the second argument of a bundle of the SDK, a context of AWS Lambda: when the run is over time, in
   * milliseconds since 1970, and the limit of its heap.
   */
  lambda?: { endsAt: number; memoryMegabytes: number }
  /** As for an action. */
  within?: string
  streamPrefix: string
}

/** The response of an SDK bundle's handler. */
export type HandlerResponse = {
  /** From 100 to 599. */
  status: number
  headers: Record<string, string>
  body?: string
}

export type Task = EventTask | ActionTask | CallTask

/** The number of requests that all runs of an event have made, in any isolate. */
export interface FetchCount {
  fetches: number
}

/** The worker's request to the sandbox. */
export interface RunRequest {
  /** Chosen by the caller; unique among the runs in flight. */
  id: string
  bundle: Bundle
  task: Task
  limits: Limits
  /** Replies to the run's calls to the platform. */
  host: Host
  /** Makes the run's outbound requests; if absent, they are refused. */
  fetch?: HostFetch
  /** Counts against `limits.fetches` in every run of the event; if absent, only the run tree's requests count. */
  eventFetches?: FetchCount
  /** The sources that the run may read in parts, by name. Each reading starts from the beginning. */
  sources?: Record<string, () => ByteSource>
  /** Receives each log line at once, except for dropped lines. */
  onLog?: (line: LogLine) => void
}

/** A call of the platform's API from inside a run. */
export interface HostCall {
  method: string
  path: string
  query?: JsonObject
  body?: Json
  /** The card of a flow that makes the call: its calls are numbered apart from those of others. */
  scope?: string
}

export interface HostReply {
  status: number
  body: Json
  /** The new value of `event.kb`, after a search of knowledge. */
  kb?: Json
}

/** A reply that comes in parts, as they are made. */
export interface HostStream {
  status: number
  /** The media type of the whole. */
  contentType: string
  parts: ByteSource
  /** The code reads no further. Without it, the host decides whether the rest is made when no part is read any more. */
  cancel(): void
}

/** The host has no reply, through no fault of the run. The run ends as interrupted, with its run tree. */
export interface Interruption {
  interrupted: string
}

/**
 * The run's interface to the platform. It always resolves: an error is a reply with its status.
 *
 * @param reserveStream to be called before a call whose reply is a stream: false when the run may open no further one
 */
export type Host = (call: HostCall, reserveStream?: () => boolean) => Promise<HostReply | HostStream | Interruption>

/** An outbound request. */
export interface FetchRequest {
  method: string
  /** An absolute URL. */
  url: string
  headers: Record<string, string>
  redirect: 'follow' | 'error' | 'manual'
  /** Text, or base64 if `isBase64` is set. */
  body?: string
  isBase64?: boolean
  /** In place of `body`, a large one that the code sends in parts as they are read, with its size where that is known. */
  content?: { bytes?: number; parts: AsyncIterable<Uint8Array> }
  /** Whether the body of the response may be delivered in parts; set by the worker's side. */
  streams?: boolean
  /** Of a connection, which has the method `CONNECT` and an address with `tcp:` or `tls:`. */
  tls?: TlsOptions
}

/** How a connection is secured, in the words of Node's `tls.connect`. */
export interface TlsOptions {
  /** The name that the server's certificate must have; by default, the host of the address. */
  servername?: string
  /** False accepts any certificate. */
  rejectUnauthorized?: boolean
  /** Certificates in PEM of the authorities to trust, in place of the public ones; empty for none. */
  ca?: string
  ciphers?: string
  minVersion?: string
  maxVersion?: string
}

export interface FetchAnswer {
  status: number
  statusText: string
  /** The URL of the answer, after redirects. */
  url: string
  /** Names in lower case; a repeated header has several entries. */
  headers: [name: string, value: string][]
  /** Text if the bytes are valid UTF-8, otherwise base64. */
  body: string
  isBase64: boolean
}

/** There is no answer, or none that the run may receive. */
export interface FetchFailure {
  /** One word, for programs. `limit`: the event has used up its requests, which ends the run. */
  failure: string
  /** For the author of the bot: the cause, and the remedy. */
  message: string
}

/** An answer whose body comes in parts, as it arrives. */
export interface FetchStream extends Omit<FetchAnswer, 'body' | 'isBase64'> {
  parts: ByteSource
}

/** A connection: its parts are the bytes that the server sends, and the content of the request those that it receives. */
export interface FetchConnection extends FetchStream {
  /**
   * Continues with TLS in a connection of its own, with the `content` of this request. This connection carries nothing from
   * now on, and its parts end. Always resolves.
   */
  secure(request: FetchRequest, signal: AbortSignal): Promise<FetchConnection | FetchFailure>
  /** Sends what has come of the content, which ends, and closes the connection. Nothing more is read. */
  close(): void
}

/**
 * Bytes in chunks of any size, read no faster than they are requested. Never rejects: a failure is its last item. A
 * reader that stops early calls `return`.
 */
export type ByteSource = AsyncIterable<Uint8Array | FetchFailure>

/**
 * The run's interface for outbound requests. It always resolves. The signal aborts the request, or the rest of an
 * answer that streams.
 */
export type HostFetch = (
  request: FetchRequest,
  signal: AbortSignal,
) => Promise<FetchAnswer | FetchStream | FetchConnection | FetchFailure>

export interface LogLine {
  /** ISO 8601, by the clock of the sandbox process. */
  timestamp: string
  level: 'debug' | 'info' | 'warn' | 'error'
  message: string
}

export interface RunError {
  name: string
  message: string
  /**
   * Frames of the bundle only; positions are those of `bundle.code`, and the file is called `bot.js`. Below them, each
   * cause of the error with its own frames.
   */
  stack?: string
}

/** Why a run failed by its own fault. `error` is a throw; the others name the limit that was exceeded. */
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
  /** The hooks and other functions that were active, in order; empty when the process died before it reported them. */
  hooks: HookStart[]
}

/** A function of the bundle that became active, at its call or after the return of a function that it had called. */
export interface HookStart {
  name: string
  /** Milliseconds since the run began, by the worker's clock, accurate to the transfer time of a frame. */
  start: number
}

export type Outcome =
  | (Ended & {
      status: 'done'
      /** For an event: whether a hook stopped the pipeline, or a `FlowResult`. For an action: its output. */
      result: Json
      /** `event.state` as the run left it. */
      state: JsonObject
    })
  /** `hook` is the name of the hook or action that failed, where it is known. */
  | (Ended & { status: 'failed'; reason: FailureReason; error: RunError; hook?: string })
  /**
   * Ended through no fault of its own, for instance because its process was killed for a neighbour; it has to run
   * again.
   */
  | (Ended & { status: 'interrupted'; reason: string })

/** The result of evaluating a bundle once, in an isolate that is then disposed. */
export type Inspection =
  | {
      status: 'accepted'
      /** `sdk` when it was inspected as such and has a `handler`; the other fields of such a bundle are empty. */
      kind: BundleKind
      /** Names in `exports.hooks`, each a function or a list of functions. */
      hooks: string[]
      actions: string[]
      /** The exported ones of `register`, `unregister` and `handler`. */
      exports: string[]
      /** Names in `exports.channels`. */
      channels: string[]
      /** `exports.retry` as declared, for the caller to validate; absent when the bundle declares none. */
      retry?: Json
      /** `exports.actionDefinitions` as declared, for the caller to validate. */
      actionDefinitions?: Json
      /** `exports.flows` with the text of each function as an expression, for the caller to validate. */
      flows?: Json
    }
  /** `hook` is the name of the hook, action, channel or other function at fault, if there is one. */
  | { status: 'refused'; reason: FailureReason; error: RunError; hook?: string }
  | { status: 'interrupted'; reason: string }

/**
 * `hardened` trusts no code. `jit` is for operators who trust the authors of their bots: faster, with a larger attack
 * surface.
 */
export type Profile = 'hardened' | 'jit'

/** A platform operation that bot code calls as `client.<name>(input)`. */
export interface ClientOperation {
  name: string
  method: string
  /**
   * Contains `{parameters}`, which are taken from the input; the other fields become the query for GET and DELETE,
   * otherwise the body.
   */
  path: string
  /** Its reply is a stream of lines of JSON, which `client.<name>(input)` gives as an async iterable. */
  streamsLines?: boolean
}

/** How a run got its isolate: existing, made ahead of time without a bot, or made for the run. */
export type IsolateStart = 'warm' | 'spare' | 'cold'

/** Why a sandbox process ended although the worker did not request it. */
export type KillCause =
  /** It ended by itself, or was ended from outside. */
  | 'ended'
  | 'start'
  | 'heartbeat'
  /** A run exceeded its deadline. */
  | 'deadline'
  /** A thread in it could not be stopped. */
  | 'stuck'
  | 'memory'
  /** It sent a frame that the protocol forbids, or too many frames. */
  | 'protocol'

/** Receives events of the sandbox for metrics. */
export interface SandboxWatch {
  started(kind: IsolateStart, count: number): void
  killed(cause: KillCause): void
}

/** Memory of the processes of one slot, or of all processes in quarantine. */
export interface SlotMemory {
  slot: string
  residentBytes: number
}

/** The suspension of code whose runs get sandbox processes killed. */
export interface CodeSuspension {
  botId: string
  codeId: string
  installationId?: string
  /** `quarantine`: it runs in a process of its own. `disabled`: it does not run. */
  placement: 'quarantine' | 'disabled'
  /** For the author of the bot: the cause, and the remedy. */
  reason: string
}

/** Limits after which a sandbox process is replaced. */
export interface Recycling {
  milliseconds: number
  runs: number
  /** Time above its memory, during which it disposes idle isolates, ten per second. */
  overweightMilliseconds: number
  /** A younger process is not replaced for its memory: its successor may need as much. */
  minMilliseconds: number
}

/** The sandbox's log for the operator: kills, restarts, isolation layers. */
export type SandboxLog = (level: 'info' | 'warn' | 'error', message: string, details?: object) => void
