import { randomUUID } from 'node:crypto'
import { onTestFinished } from 'vitest'
import {
  platformUrl,
  type ActionTask,
  type Bundle,
  type CallTask,
  type ClientOperation,
  type EventTask,
  type Host,
  type HostCall,
  type HostFetch,
  type HostReply,
  type Json,
  type JsonObject,
  type Limits,
  type Outcome,
  type RunRequest,
} from '#sandbox/protocol/contract.ts'
import type { Sandbox, SandboxOptions } from '#sandbox/sandbox.ts'
import { openSandbox } from '#sandbox/open-sandbox.ts'

export { platformUrl }

export const operations: ClientOperation[] = [
  { name: 'createMessage', method: 'POST', path: '/v1/chat/messages' },
  { name: 'getMessage', method: 'GET', path: '/v1/chat/messages/{id}' },
  { name: 'listMessages', method: 'GET', path: '/v1/chat/messages' },
  { name: 'updateMessage', method: 'PUT', path: '/v1/chat/messages/{id}' },
  { name: 'deleteMessage', method: 'DELETE', path: '/v1/chat/messages/{id}' },
  { name: 'callAction', method: 'POST', path: '/v1/chat/actions' },
]

export const hookNames = [
  'beforeIncomingMessage',
  'afterIncomingMessage',
  'beforeOutgoingMessage',
  'afterOutgoingMessage',
  'beforeCallAction',
  'afterCallAction',
  'afterTurnEnd',
]

/** Generous with time on the wall, because the machine may be busy; processor time is exact. */
export const limits: Limits = {
  memoryMegabytes: 64,
  cpuMilliseconds: 2000,
  wallMilliseconds: 20_000,
  loadMilliseconds: 2000,
  hostCalls: 50,
  hostCallsAtOnce: 8,
  fetches: 5,
  fetchesAtOnce: 2,
  connectionsAtOnce: 20,
  fetchCharacters: 100_000,
  hostCallCharacters: 100_000,
  resultCharacters: 100_000,
  logLines: 100,
  logCharacters: 20_000,
  timers: 10,
}

export interface TestSandbox extends Sandbox {
  /** Of the process that is ready, as the log told it. */
  pid(): number
}

/** A sandbox of one process, so that all bots of a test are neighbours. */
export async function openTestSandbox(options: Partial<SandboxOptions> = {}): Promise<TestSandbox> {
  let pid = 0
  const sandbox = await openSandbox({
    processes: 1,
    operations,
    hooks: hookNames,
    ...options,
    log: (level, message, details) => {
      if (message === 'A sandbox process is ready') pid = (details as { sandboxPid: number }).sandboxPid
      options.log?.(level, message, details)
    },
  })
  return { ...sandbox, pid: () => pid }
}

/** A bundle of a bot of its own, with this body of its `afterIncomingMessage`. */
export function botThat(body: string): Bundle {
  return bot(`exports.hooks = { async afterIncomingMessage({ event, client, state, logger }) { ${body} } }`)
}

export function bot(code: string): Bundle {
  return { id: `bundle-${randomUUID()}`, botId: `bot-${randomUUID()}`, code }
}

/** An SDK bundle of a bot of its own. */
export function sdkBot(code: string, environment: Record<string, string> = {}): Bundle {
  return { ...bot(code), kind: 'sdk', environment: { BP_API_URL: platformUrl, BP_TOKEN: 'not-needed', ...environment } }
}

/** An SDK bundle with this body of its `handler`. */
export function handlerThat(body: string, environment?: Record<string, string>): Bundle {
  return sdkBot(`exports.handler = async (request) => { ${body} }`, environment)
}

interface RunOptions {
  event?: JsonObject
  stages?: string[]
  finally?: string
  host?: Host
  fetch?: HostFetch
  limits?: Partial<Limits>
}

/** A run of a bundle for an incoming message. */
export function messageRun(bundle: Bundle, options: RunOptions = {}): RunRequest {
  const task: EventTask = {
    kind: 'event',
    event: { createdOn: '2026-01-02T03:04:05.678Z', state: { conversation: {}, temp: {} }, ...options.event },
    stages: options.stages ?? ['beforeIncomingMessage', 'afterIncomingMessage'],
    finally: options.finally ?? 'afterTurnEnd',
    streamPrefix: 'evt_1/',
  }
  return makeRun(bundle, task, options)
}

export function actionRun(
  bundle: Bundle,
  task: Omit<ActionTask, 'kind' | 'event' | 'streamPrefix'>,
  options: RunOptions = {},
): RunRequest {
  const event = { state: {}, ...options.event }
  return makeRun(bundle, { kind: 'action', event, streamPrefix: 'evt_1/callAction:1/', ...task }, options)
}

/** A call of a function that the bundle exports. */
export function callRun(bundle: Bundle, task: Partial<CallTask> = {}, options: RunOptions = {}): RunRequest {
  const call: CallTask = {
    kind: 'call',
    path: ['handler'],
    argument: {},
    addsContext: bundle.kind !== 'sdk',
    streamPrefix: 'evt_1/',
    ...task,
  }
  return makeRun(bundle, call, options)
}

function makeRun(bundle: Bundle, task: RunRequest['task'], options: RunOptions): RunRequest {
  return {
    id: `run-${randomUUID()}`,
    bundle,
    task,
    limits: { ...limits, ...options.limits },
    host: options.host ?? echo,
    ...(options.fetch && { fetch: options.fetch }),
  }
}

/** Answers `createMessage` with the message, and anything else with the call itself. */
export const echo: Host = async (call) => ok({ message: call.body ?? null, call: { ...call } as unknown as Json })

export function ok(body: Json): HostReply {
  return { status: 200, body }
}

/** A host whose replies the test gives: it records the calls, and keeps each waiting until it is answered. */
export function patientHost(): { host: Host; calls: HostCall[]; answer: (index: number, body?: Json) => void } {
  const calls: HostCall[] = []
  const answers: ((reply: HostReply) => void)[] = []
  // Nothing is left waiting, whatever becomes of the test.
  onTestFinished(() => answers.forEach((answer) => answer(ok({}))))
  return {
    calls,
    host: (call) => {
      calls.push(call)
      return new Promise((resolve) => answers.push(resolve))
    },
    answer: (index, body = {}) => answers[index]!(ok(body)),
  }
}

/** The outcome of a run that must succeed. */
export function done(outcome: Outcome): Extract<Outcome, { status: 'done' }> {
  if (outcome.status !== 'done') throw new Error(`The run did not succeed: ${JSON.stringify(outcome)}`)
  return outcome
}

/** The messages that a run logged. */
export function logged(outcome: Outcome): string[] {
  return outcome.logs.map((line) => line.message)
}
