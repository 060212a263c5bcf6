import type {
  Bundle,
  ByteSource,
  FetchCount,
  FetchFailure,
  FetchRequest,
  Host,
  HostFetch,
  JsonObject,
  Outcome,
} from '#sandbox/protocol/contract.ts'
import { secretRedactor } from '#sandbox/protocol/redact-secrets.ts'
import { callActionRemotely, notInstalled, splitActionType, unknownAction } from '#shared/messaging/call-action.ts'
import type { LendTurn, OpenStreams } from '#shared/rpc/caller.ts'
import { ApiError } from '#shared/errors.ts'
import { actionTriggered } from '#shared/models/event.ts'
import type { RemoteRequest, RemoteResponse } from '#shared/models/tunnel.ts'
import type { ClaimedEvent } from '#shared/store/mailboxes.ts'
import { botActionCall } from '../calls/bot-calls.ts'
import type { Call } from '../calls/call.ts'
import { integrationActionCall } from '../calls/integration-calls.ts'
import { describeFailure, nameSources } from '../run-record/failures.ts'
import type { EventLog, WrittenLine } from '../run-record/event-log.ts'
import type { RunRecorder } from '../run-record/run-recorder.ts'
import { createHostHandler } from './host.ts'
import type { limitsOf } from './limits.ts'
import { runRemotely } from './run-remotely.ts'
import { observedCall, observedRun } from '../metrics/instrumentation.ts'
import type { WorkerContext } from '../context.ts'

/** State shared by all runs of an event's handling. */
export interface Handling extends FetchCount {
  event: ClaimedEvent
  openStreams: OpenStreams
  /** The limits of the event's bot. */
  limits: ReturnType<typeof limitsOf>
  /** The log of all its runs. */
  log: EventLog
  recorder: RunRecorder
  /** Calls of actions, nested ones included: in total, and in flight. */
  actions: { called: number; inFlight: number }
  /** By `performance.now()`, which no change of the clock moves. A nested run in another isolate ends by the same deadline. */
  deadline: number
  /** A call of any of its runs has waited for the database or Redis, which was unavailable. */
  metOutage: boolean
  /** Present where the bot has one event at a time. */
  lendTurn?: LendTurn
}

/** Position of a run in the run tree. */
interface RunPosition {
  /** The calls of actions that led to it, for instance `callAction:1/`; empty for the event itself. */
  scope: string
  /** The calling run, when both run in the same isolate. */
  within?: string
}

/**
 * Maximum of runs of an event, beyond which it is no longer run again because of an outage: its own calls may be what
 * the database does not survive.
 */
const maxRuns = 10

/** Maximum length of a chain of actions that call each other. */
const maxDepth = 16

/** Upper bound of concurrent actions per event, as a multiple of the bound per run. */
const widthOfNested = 4

/**
 * Number of runs of this process, which makes run ids unique. A crash of the database may undo a claim, and then two
 * runs of an event have the same attempt.
 */
let runs = 0

/** Made once: an exception takes the stack of the place where it is made. */
const runEnded = new DOMException('The run has ended', 'AbortError')

/** Runs a call in the sandbox, with a host handler that acts as the code's owner. */
export async function runCall(
  worker: WorkerContext,
  handling: Handling,
  call: Call,
  position: RunPosition = { scope: '' },
): Promise<Outcome> {
  const { event, openStreams, limits, recorder } = handling
  const { scope, within } = position
  const mayRepeat = event.attempt < maxRuns
  if (call.code.url !== undefined) return runElsewhere(worker, handling, call, scope)
  // The step of an action is nested in that of its call, which is nested in that of a hook.
  const depth = 2 * (scope.split('/').length - 1)
  const id = `${event.id}#${event.attempt}.${++runs}/${scope}`
  let interrupted: string | undefined
  const ended = new AbortController()
  const open = worker.openFetch({ botId: event.bot_id, code: call.code, limits })
  const fetch: HostFetch = async (request, signal) => {
    const step = recorder.begin('fetch', nameOfFetch(request, call.code), depth + 1)
    const answer = await open(request, signal)
    if ('parts' in answer)
      return { ...answer, parts: until(answer.parts, (failure) => step.end(failure ?? answer.status)) }
    step.end('failure' in answer ? answer.failure : answer.status)
    return answer
  }
  const handleHostCall = createHostHandler(worker, {
    botId: event.bot_id,
    ...('installation' in call.code && { installation: call.code.installation }),
    eventId: event.id,
    attempt: event.attempt,
    scope,
    openStreams,
    ended: ended.signal,
    fetch,
    mayRepeat,
    onOutage: () => (handling.metOutage = true),
    ...(handling.lendTurn && { lendTurn: handling.lendTurn }),
    ...(call.code.isAgent && { isOfAgent: true }),
    keepsPrompts: event.keeps_prompts,
    userId: event.user_id,
    redact: (text) => secretRedactor(call.code.bundle.environment)(text),
    onCall: (name) => observedCall(worker, recorder.begin('call', name, depth + 1)),
    async callAction(type, input, nestedScope) {
      const called = await actionCall(worker, event, call, type, input as JsonObject)
      const depth = depthOf(event) + nestedScope.split('/').length - 1
      if (depth >= maxDepth) {
        throw new ApiError(
          'Runtime',
          `Actions call each other more than ${maxDepth} levels deep: '${type}' was not called`,
        )
      }
      if (!called) {
        const key = { operation: `${nestedScope}event`, ordinal: 1 }
        const run = { eventId: event.id, attempt: event.attempt, call: key }
        const callRemotely = () => callActionRemotely(worker, event.bot_id, { type, input, depth }, run)
        return handling.lendTurn?.('actions', callRemotely) ?? callRemotely()
      }
      const isSameIsolate = called.code.bundle.id === call.code.bundle.id
      const nested = { scope: nestedScope, ...(isSameIsolate && { within: id }) }
      const outcome = await counted(handling, () => runCall(worker, handling, called, nested))
      if (outcome.status === 'failed') handling.log.write(await actionFailed(worker, type, called, outcome))
      if (outcome.status === 'interrupted') interrupted = outcome.reason
      return outputOf(type, called, outcome)
    },
  })
  // The caller of an interrupted run is re-run together with it, and does not observe the interruption.
  const host: Host = async (hostCall, reserveStream) => {
    const reply = await handleHostCall(hostCall, reserveStream)
    return interrupted === undefined ? reply : { interrupted }
  }
  // The event's own run has just begun, so it gets the whole limit, and its failure names the limit as configured.
  const left = scope === '' ? limits.wallMilliseconds : Math.max(1, handling.deadline - performance.now())
  const wallMilliseconds = Math.min(limits.wallMilliseconds, left)
  const { memoryMegabytes } = limits
  const lambda = { endsAt: Date.now() + Math.floor(wallMilliseconds), memoryMegabytes }
  const start = recorder.now
  const logged: WrittenLine[] = []
  const ran = await observedRun(worker, {
    id,
    bundle: inHeap(call.code.bundle, limits),
    // A repeated run gives its streams the same names, so that listeners replace what they show of them.
    task: {
      ...call.task,
      streamPrefix: `${event.id}/${scope}`,
      ...(within && { within }),
      ...(call.code.bundle.kind === 'sdk' && { lambda }),
    },
    limits: { ...limits, wallMilliseconds },
    host,
    fetch,
    eventFetches: handling,
    ...(call.sources && { sources: call.sources }),
    onLog(line) {
      const written = { ...line, ...writerOf(call.code) }
      handling.log.write(written)
      logged.push(written)
    },
  })
  const outcome = mayRepeat && handling.metOutage ? withoutTimeout(ran) : ran
  // A run that is repeated gets the answers of calls that are still in flight.
  if (outcome.status !== 'interrupted') ended.abort(runEnded)
  await nameSources(worker.sourceMaps, logged, call.code)
  recorder.ran(outcome, start, depth)
  return outcome
}

/** A run that was over time because it had waited for the database is run again: its code is not at fault. */
function withoutTimeout(outcome: Outcome): Outcome {
  if (outcome.status !== 'failed' || outcome.reason !== 'timeout') return outcome
  const { logs, cpuMilliseconds, hooks } = outcome
  return {
    status: 'interrupted',
    reason: 'it waited for the database until its time was over',
    logs,
    cpuMilliseconds,
    hooks,
  }
}

/** The field of a log line that names the integration whose code wrote it. */
function writerOf(code: Call['code']): Pick<WrittenLine, 'integrationId'> {
  return 'installation' in code ? { integrationId: code.installation.integration_id } : {}
}

/** Runs a call on the machine of the code's author. */
async function runElsewhere(
  worker: WorkerContext,
  { event, limits, recorder, deadline }: Handling,
  { code, task }: Call,
  scope: string,
): Promise<Outcome> {
  if (code.url === undefined || task.kind !== 'call') throw new Error('The call has no request for code elsewhere')
  const depth = 2 * (scope.split('/').length - 1)
  const step = recorder.begin('fetch', 'code under development', depth)
  const milliseconds = Math.max(1, Math.min(limits.wallMilliseconds, deadline - performance.now()))
  const request = task.argument as unknown as RemoteRequest
  const outcome = await runRemotely(worker, { botId: event.bot_id, url: code.url, request, milliseconds })
  step.end(outcome.status === 'done' ? (outcome.result as unknown as RemoteResponse).status : outcome.status)
  return outcome
}

/** Passes a body on, and reports how it ended. The step of an unread body lasts as long as the run. */
async function* until(parts: ByteSource, ended: (failure?: string) => void): AsyncGenerator<Uint8Array | FetchFailure> {
  let failure: string | undefined
  try {
    for await (const part of parts) {
      if ('failure' in part) failure = part.failure
      yield part
    }
  } finally {
    ended(failure)
  }
}

/** Method and host only: a path or a query may hold secrets or personal data. */
function nameOfFetch({ method, url }: FetchRequest, { bundle }: Call['code']): string {
  const host = URL.parse(url)?.host ?? 'no address'
  return secretRedactor(bundle.environment)(`${method.slice(0, 10)} ${host}`)
}

/**
 * Counts a nested run against the limits of the event. Runs in other isolates have limits of their own, so without a
 * common one, actions of integrations that call each other could multiply.
 *
 * @throws ApiError `Runtime` when the event exceeds the limits
 */
async function counted({ actions, limits }: Handling, call: () => Promise<Outcome>): Promise<Outcome> {
  const { hostCalls, hostCallsAtOnce } = limits
  actions.called += 1
  if (actions.called > hostCalls) throw tooMany(`${hostCalls} actions`)
  if (actions.inFlight >= hostCallsAtOnce * widthOfNested) throw tooMany(`${hostCallsAtOnce * widthOfNested} at once`)
  actions.inFlight += 1
  try {
    return await call()
  } finally {
    actions.inFlight -= 1
  }
}

function tooMany(limit: string): ApiError {
  return new ApiError(
    'Runtime',
    `An event may call ${limit}, including calls by its actions: this action was not called`,
  )
}

/** An isolate has a fixed heap size, so each size needs its own isolate. */
function inHeap(bundle: Bundle, { memoryMegabytes }: Handling['limits']): Bundle {
  return { ...bundle, id: `${bundle.id}/${memoryMegabytes}` }
}

/** Number of actions in the chain that led to the event: a chain may continue from event to event. */
function depthOf({ type, payload }: ClaimedEvent): number {
  return type === actionTriggered ? Number(payload['depth'] ?? 0) : 0
}

/**
 * The call of an action that a run requests.
 *
 * @returns undefined for a bot's own action that an integration calls: it becomes an event of the bot, with the bot's
 *   state
 * @throws ApiError `ReferenceNotFound` when the action does not exist
 */
async function actionCall(
  worker: WorkerContext,
  event: ClaimedEvent,
  { code }: Call,
  type: string,
  input: JsonObject,
): Promise<Call | undefined> {
  const { alias, name } = splitActionType(type)
  if (alias === undefined) {
    if ('installation' in code) return undefined
    // The action sees the event of the calling run.
    return botActionCall(code, { botId: event.bot_id, type, input, event: {} })
  }
  const called = await worker.bundles.ofIntegration(event.bot_id, { alias })
  if (!called?.installation.enabled) throw await notInstalled(worker.db, event.bot_id, type)
  if (!called.actions.includes(name)) throw unknownAction(type, called.actions)
  if (called.disabledReason !== null) {
    throw new ApiError('Runtime', `The action '${type}' failed: ${called.disabledReason}`)
  }
  return integrationActionCall(worker, called, name, input)
}

/** The log line with the position of an action's failure, which the caller's error does not contain. */
async function actionFailed(
  { sourceMaps }: WorkerContext,
  type: string,
  { code }: Call,
  outcome: Outcome & { status: 'failed' },
): Promise<WrittenLine> {
  const { hook: _hook, ...failed } = outcome
  const { details } = await describeFailure(sourceMaps, failed, code)
  const message = `The action '${type}' failed: ${details}`
  return { timestamp: new Date().toISOString(), level: 'error', message, ...writerOf(code) }
}

function outputOf(type: string, { read, code }: Call, outcome: Outcome): Record<string, unknown> {
  if (outcome.status === 'interrupted') throw new ApiError('Runtime', `The action '${type}' was interrupted`)
  if (outcome.status === 'failed') {
    throw new ApiError('Runtime', `The action '${type}' failed: ${outcome.error.message}`)
  }
  const { result, failure } = read ? read(outcome.result) : { result: outcome.result }
  if (failure) {
    const star = secretRedactor(code.bundle.environment)
    throw new ApiError('Runtime', `The action '${type}' failed: ${star(failure.message)}`)
  }
  return (result ?? {}) as Record<string, unknown>
}
