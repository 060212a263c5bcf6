import type { Json, JsonObject, LogLine, Outcome } from '#sandbox/contract.ts'
import { toSourceStack } from '#shared/compile-bot.ts'
import { ApiError } from '#shared/errors.ts'
import { abortStreams } from '#shared/message-streams.ts'
import type { ClaimedEvent } from '#shared/store/mailboxes.ts'
import type { RetryPolicy } from '#shared/store/tables.ts'
import type { Code } from './bundles.ts'
import { botCall } from './calls/bot-calls.ts'
import { Unheard, Unrunnable, type Call } from './calls/call.ts'
import { integrationCall } from './calls/integration-calls.ts'
import { runCall, type Handling } from './run-call.ts'
import type { Tools } from './worker.ts'

/** How an event's handling went. */
export type Handled =
  | { status: 'ignored'; logs: LogLine[] }
  | (Ended & {
      status: 'done'
      /** `event.state` as hooks or actions left it. */
      state?: JsonObject
    })
  | (Ended & { status: 'failed'; failure: Failure })
  | { status: 'interrupted'; reason: string }

interface Ended {
  logs: LogLine[]
  result?: Json
  /** Whether to try again after a failure. */
  retry: RetryPolicy | null
}

/** Why an event failed, for the event and for the bot's log. */
export interface Failure {
  /** One line. */
  reason: string
  /** With the author's own file, line and column where there are any. */
  details: string
}

/** Has the code that a claimed event is for handle it, the bot's or an installed integration's. */
export async function runEvent(tools: Tools, event: ClaimedEvent): Promise<Handled> {
  let call: Call | undefined
  try {
    call = await findCall(tools, event)
  } catch (error) {
    return withoutRun(error)
  }
  if (!call) return { status: 'ignored', logs: [] }
  const deadline = Date.now() + tools.config.sandbox.wallMilliseconds
  const handling: Handling = { event, openStreams: new Map(), deadline, fetches: 0 }
  try {
    return toHandled(call, await runCall(tools, handling, call))
  } finally {
    await abortStreams(tools, handling.openStreams)
  }
}

async function findCall(tools: Tools, event: ClaimedEvent): Promise<Call | undefined> {
  const { bot_id: botId, version_id: versionId, installation_id: installationId } = event
  if (installationId !== null) {
    const code = await tools.bundles.ofIntegration(botId, { id: installationId })
    return code && integrationCall(tools, event, code)
  }
  const code = versionId === null ? undefined : await tools.bundles.ofBot(botId, versionId)
  return code && botCall(tools, event, code)
}

/** How an event is to end that no code could be called for; what is not its own doing is thrown on. */
function withoutRun(error: unknown): Handled {
  if (error instanceof Unheard) {
    const timestamp = new Date().toISOString()
    return { status: 'ignored', logs: [{ timestamp, level: 'warn', message: error.message }] }
  }
  if (error instanceof Unrunnable) {
    const reason = `${error.reason}: ${error.message}`
    return { status: 'failed', failure: { reason, details: reason }, logs: [], retry: null }
  }
  if (error instanceof ApiError && error.status < 500) {
    return { status: 'failed', failure: { reason: error.message, details: error.message }, logs: [], retry: null }
  }
  throw error
}

function toHandled(call: Call, outcome: Outcome): Handled {
  if (outcome.status === 'interrupted') return outcome
  const { logs } = outcome
  if (outcome.status === 'failed') {
    return { status: 'failed', logs, failure: describeFailure(outcome, call.code), retry: call.retry }
  }
  const { result, failure } = call.read ? call.read(outcome.result) : { result: outcome.result }
  const answer = result !== undefined && { result }
  if (failure) {
    const { message } = failure
    const retry = failure.mayPass ? call.retry : null
    return { status: 'failed', logs, failure: { reason: oneLine(message), details: message }, retry, ...answer }
  }
  const isOwnRun = call.task.kind !== 'call'
  return { status: 'done', logs, retry: call.retry, ...answer, ...(isOwnRun && { state: outcome.state }) }
}

function describeFailure(outcome: Outcome & { status: 'failed' }, { sourceMap }: Code): Failure {
  const { name, message, stack } = outcome.error
  const what = outcome.reason === 'error' ? `${name}: ${message}` : `${outcome.reason}: ${message}`
  const where = stack ? `\n${sourceMap ? toSourceStack(stack, sourceMap) : stack}` : ''
  return { reason: oneLine(what), details: what + where }
}

function oneLine(text: string): string {
  return text.slice(0, 2000)
}
