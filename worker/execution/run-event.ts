import type { Json, JsonObject, Outcome } from '#sandbox/protocol/contract.ts'
import type { FlowPosition, FlowResult } from '#sandbox/protocol/flow-contract.ts'
import { secretRedactor } from '#sandbox/protocol/redact-secrets.ts'
import { ApiError } from '#shared/errors.ts'
import { actionTriggered, workflowUpdate } from '#shared/models/event.ts'
import { abortStreams } from '#shared/messaging/message-streams.ts'
import type { LendTurn } from '#shared/rpc/caller.ts'
import type { ClaimedEvent } from '#shared/store/mailboxes.ts'
import type { RetryPolicy } from '#shared/models/tables.ts'
import { botCall } from '../calls/bot-calls.ts'
import { NotDeliverable, NotRunnable, type Call } from '../calls/call.ts'
import { integrationCall } from '../calls/integration-calls.ts'
import { openEventLog, type WrittenLine } from '../run-record/event-log.ts'
import { describeFailure, toFailure, type Failure } from '../run-record/failures.ts'
import { agentLimits } from '../code/agent-runtime.ts'
import { limitsOf } from './limits.ts'
import { runCall, type Handling } from './run-call.ts'
import { refuseDisabled } from './code-suspensions.ts'
import type { RunRecorder } from '../run-record/run-recorder.ts'
import type { WorkerContext } from '../context.ts'

/** The outcome of an event's handling. */
export type Handled =
  | { status: 'ignored'; logs: WrittenLine[] }
  | (Ended & {
      status: 'done'
      /** `event.state` after the run. */
      state?: JsonObject
      /** The position in the bot's flows after the run; null when none is in progress, absent when it has not changed. */
      position?: FlowPosition | null
    })
  | (Ended & { status: 'failed'; failure: Failure })
  | { status: 'interrupted'; reason: string }

interface Ended {
  logs: WrittenLine[]
  result?: Json
  /** The retries after a failure; null for none. */
  retry: RetryPolicy | null
}

/** Runs the code that handles a claimed event: the bot's or an installed integration's. */
export async function runEvent(worker: WorkerContext, event: ClaimedEvent, recorder: RunRecorder): Promise<Handled> {
  // People answer in the conversation. Workflows are work of the bot, which nothing would continue later.
  if (event.handover_id !== null && event.type !== workflowUpdate) return { status: 'ignored', logs: [] }
  let call: Call | undefined
  try {
    call = await findCall(worker, event)
  } catch (error) {
    return withoutRun(error)
  }
  if (!call) return { status: 'ignored', logs: [] }
  const { isAgent = false, bundle } = call.code
  const kind = event.type === actionTriggered ? 'action' : 'event'
  const turn = isAgent ? await worker.agentTurns.take(bundle.id, kind) : undefined
  // The runtime saves the states of a workflow at intervals, also while that waits.
  const lendTurn: LendTurn | undefined =
    turn && ((to, work) => (to === 'all' && event.type === workflowUpdate ? work() : turn.lend(to, work)))
  const limits = limitsOf(worker.config.sandbox, event.limits, isAgent ? agentLimits : {})
  const deadline = performance.now() + limits.wallMilliseconds
  const log = openEventLog(limits)
  const handling: Handling = {
    event,
    openStreams: new Map(),
    limits,
    log,
    recorder,
    actions: { called: 0, inFlight: 0 },
    deadline,
    fetches: 0,
    metOutage: false,
    ...(lendTurn && { lendTurn }),
  }
  try {
    return await toHandled(worker, call, await runCall(worker, handling, call), log.lines)
  } finally {
    turn?.end()
    await abortStreams(worker, handling.openStreams)
  }
}

async function findCall(worker: WorkerContext, event: ClaimedEvent): Promise<Call | undefined> {
  const { bot_id: botId, version_id: versionId, installation_id: installationId, url } = event
  if (installationId !== null) {
    const code = await worker.bundles.ofIntegration(botId, { id: installationId })
    const call = code && (await integrationCall(worker, event, code))
    if (call) refuseDisabled(code.disabledReason)
    return call
  }
  if (url !== null) {
    const code = await worker.bundles.ofDevelopedBot(botId, url)
    return code && botCall(worker, event, code)
  }
  const code = versionId === null ? undefined : await worker.bundles.ofBot(botId, versionId, event.secrets)
  const call = code && (await botCall(worker, event, code))
  if (call) refuseDisabled(event.disabled_reason)
  return call
}

/** The end of an event whose code cannot be called. Errors that the event did not cause are rethrown. */
function withoutRun(error: unknown): Handled {
  if (error instanceof NotDeliverable) {
    const timestamp = new Date().toISOString()
    return { status: 'ignored', logs: [{ timestamp, level: 'warn', message: error.message }] }
  }
  if (error instanceof NotRunnable) {
    const failure = { ...toFailure(`${error.reason}: ${error.message}`), kind: error.reason }
    return { status: 'failed', failure, logs: [], retry: null }
  }
  if (error instanceof ApiError && error.status < 500) {
    return { status: 'failed', failure: toFailure(error.message), logs: [], retry: null }
  }
  throw error
}

async function toHandled(worker: WorkerContext, call: Call, outcome: Outcome, logs: WrittenLine[]): Promise<Handled> {
  if (outcome.status === 'interrupted') return outcome
  if (outcome.status === 'failed') {
    const failure = await describeFailure(worker.sourceMaps, outcome, call.code)
    return { status: 'failed', logs, failure, retry: call.retry }
  }
  const { result, failure } = call.read ? call.read(outcome.result) : { result: outcome.result }
  const answer = result !== undefined && { result }
  if (failure) {
    const message = secretRedactor(call.code.bundle.environment)(failure.message)
    const retry = failure.mayPass ? call.retry : null
    return { status: 'failed', logs, failure: toFailure(message), retry, ...answer }
  }
  const isOwnRun = call.task.kind !== 'call'
  const position = hasFlows(call) ? (result as unknown as FlowResult).position : undefined
  return {
    status: 'done',
    logs,
    retry: call.retry,
    ...answer,
    ...(isOwnRun && { state: outcome.state }),
    ...(position !== undefined && { position }),
  }
}

function hasFlows({ task }: Call): boolean {
  return task.kind === 'event' && task.flow !== undefined
}
