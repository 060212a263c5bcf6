import { Agent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { countWaiting } from '../chaos/check.ts'
import { chancesFrom } from '../chaos/random.ts'
import { send } from '../support/platform.ts'
import {
  faultOf,
  faultOfBytes,
  faultOfExchange,
  isDeliberate,
  sendBytes,
  sendRequest,
  type Outcome,
} from './exchange.ts'
import { findBurstFaults } from './burst.ts'
import { readApi, type Api } from './operations.ts'
import { fuzzFlows, type FlowReport } from './flows.ts'
import { faultOfMcp, mcpOperation, mcpRequests, randomMcpRequest } from './mcp.ts'
import { openFuzzPlatform, type FuzzPlatform, type PlatformOptions } from './platform.ts'
import { mutatedBytes, rawRequests } from './raw.ts'
import { matrixRequests, randomRequest, type FuzzRequest } from './requests.ts'
import { differencesOf, readRows } from './rows.ts'
import { harvest, openTenant, type Tenant } from './tenant.ts'

export interface FuzzOptions extends PlatformOptions {
  /** The same seed makes the same requests, except for the ids in them. */
  seed: number
  /** Number of requests in addition to the matrix and the raw ones. */
  requests: number
  /** Number of generated flows that are uploaded. */
  flows: number
  /** Takes every n-th request of the matrix only. */
  matrixStep: number
  /** Concurrent requests. */
  concurrency: number
  /** After this time, no further requests begin. */
  maxMilliseconds: number
  /** Requests operations only whose paths begin with one of these. */
  paths?: string[]
  /** Sends only the request with this number. */
  only?: number
  /** Uploads only the flows with this number, and sends no request. */
  onlyFlows?: number
}

/** A request with a wrong answer. */
export interface Fault {
  number: number
  what: string
  request: FuzzRequest | string
  answer: string
}

export interface FuzzReport {
  options: FuzzOptions
  operations: number
  sent: { matrix: number; mcp: number; raw: number; random: number }
  /** Number of answers by status; 0 for a connection that ended without one. */
  statuses: Map<number, number>
  /** Operations of which a random request succeeded. */
  succeeded: Set<string>
  faults: Fault[]
  flows: FlowReport
  /** Changed rows of the other tenant. */
  foreignRows: string[]
  /** Descriptions of processes that ended by themselves, and of a bot that no longer replies. */
  breakdowns: string[]
  seconds: number
}

type Attempt = { kind: keyof FuzzReport['sent'] } & (
  | { request: FuzzRequest; bytes?: undefined }
  | { bytes: string; request?: undefined }
)

/**
 * Sends requests that no client sends, and checks every answer.
 *
 * @param parts receives what has to be closed afterwards
 * @param tell receives the progress, periodically
 */
export async function runFuzz(
  options: FuzzOptions,
  parts: AsyncDisposableStack,
  tell: (line: string) => void = () => {},
): Promise<FuzzReport> {
  const platform = await openFuzzPlatform(options, parts)
  const [own, foreign] = [await openTenant(platform), await openTenant(platform)]
  await untilSettled(platform)
  const api = await readApi(platform.url, options.paths)
  const before = await readRows(platform.databaseUrl, foreign.ids)
  const agent = new Agent({ keepAlive: true, maxSockets: options.concurrency })
  parts.defer(() => agent.destroy())

  const report: FuzzReport = {
    options,
    operations: api.operations.length,
    sent: { matrix: 0, mcp: 0, raw: 0, random: 0 },
    statuses: new Map(),
    succeeded: new Set(),
    faults: [],
    flows: { accepted: 0, refused: 0, events: new Map(), faults: [] },
    foreignRows: [],
    breakdowns: [],
    seconds: 0,
  }
  const begunAt = performance.now()
  const attemptAt = planOf(options, api, own, foreign)
  const isOver = () => performance.now() - begunAt > options.maxMilliseconds
  let next = options.only ?? 0
  async function work(): Promise<void> {
    for (;;) {
      const number = next++
      if (isOver() || (options.only !== undefined && number > options.only)) return
      const attempt = attemptAt(number)
      if (!attempt) return
      const outcome = await exchange(platform, agent, attempt)
      note(report, number, attempt, outcome)
      if (attempt.request && outcome.status >= 200 && outcome.status < 300) learn(own, attempt.request, outcome)
      if (number % 1000 === 999) tell(`${number + 1} requests, ${report.faults.length} faults`)
    }
  }
  if (options.onlyFlows === undefined) await Promise.all(Array.from({ length: options.concurrency }, work))
  if (options.only === undefined) {
    const { seed, flows: count, onlyFlows: only } = options
    report.flows = await fuzzFlows(platform, own.credentials.owner, { seed, count, only })
  }
  report.seconds = (performance.now() - begunAt) / 1000
  report.foreignRows = differencesOf(before, await readRows(platform.databaseUrl, foreign.ids))
  const isWhole = options.only === undefined && options.onlyFlows === undefined
  const burst = isWhole ? await findBurstFaults(platform.url, foreign) : []
  report.breakdowns = [...burst, ...(await findBreakdowns(platform, foreign))]
  return report
}

/** Of the random requests, those to the MCP server of a bot. */
const shareOfMcp = 0.05

/**
 * The request of each number: first the matrix, then the fixed ones to the MCP server, then the raw ones, then the given number of
 * random ones.
 */
function planOf(options: FuzzOptions, api: Api, own: Tenant, foreign: Tenant) {
  const matrix = matrixRequests(api, own, foreign).filter(
    (_, index) => (index + options.seed) % options.matrixStep === 0,
  )
  const withMcp = options.paths?.some((prefix) => '/mcp'.startsWith(prefix)) ?? true
  const mcp = withMcp ? mcpRequests(own, foreign) : []
  const raw = rawRequests(own)
  return (number: number): Attempt | undefined => {
    const chances = chancesFrom(options.seed * 1_000_003 + number)
    if (number < matrix.length) return { kind: 'matrix', request: matrix[number]! }
    const index = number - matrix.length - mcp.length
    if (index < 0) return { kind: 'mcp', request: mcp[number - matrix.length]! }
    if (index < raw.length) return { kind: 'raw', bytes: raw[index]! }
    if (index >= raw.length + options.requests) return undefined
    if (chances.between(0, 1) < 0.1) return { kind: 'raw', bytes: mutatedBytes(chances.pick(raw), chances) }
    const isForMcp = api.operations.length === 0 || (withMcp && chances.between(0, 1) < shareOfMcp)
    return isForMcp
      ? { kind: 'mcp', request: randomMcpRequest(own, foreign, chances) }
      : { kind: 'random', request: randomRequest(api, own, foreign, chances) }
  }
}

function exchange({ port }: FuzzPlatform, agent: Agent, attempt: Attempt): Promise<Outcome> {
  return attempt.request ? sendRequest(port, agent, attempt.request) : sendBytes(port, attempt.bytes)
}

function note(report: FuzzReport, number: number, { kind, request, bytes }: Attempt, outcome: Outcome): void {
  report.sent[kind] += 1
  const status = isDeliberate(outcome) ? 503 : outcome.status
  report.statuses.set(status, (report.statuses.get(status) ?? 0) + 1)
  if (request && kind === 'random' && status >= 200 && status < 300) report.succeeded.add(request.operation)
  const what = request ? faultOfAnswer(request, outcome) : faultOfBytes(outcome)
  if (what === undefined) return
  report.faults.push({ number, what, request: request ?? bytes, answer: outcome.text.slice(0, 1000) })
}

function faultOfAnswer(request: FuzzRequest, outcome: Outcome): string | undefined {
  if (request.operation !== mcpOperation) return faultOf(request, outcome)
  return faultOfExchange(request, outcome) ?? (isDeliberate(outcome) ? undefined : faultOfMcp(request, outcome))
}

/** Keeps the ids of new rows, so that later requests read, change and delete them. */
function learn(own: Tenant, { path }: FuzzRequest, { text }: Outcome): void {
  try {
    harvest(own.ids, path, JSON.parse(text))
  } catch {
    // Pages are not answers of operations.
  }
}

const settleMilliseconds = 60_000

/** Waits until all events from the tenants' creation have been handled. */
async function untilSettled({ databaseUrl }: FuzzPlatform): Promise<void> {
  const deadline = Date.now() + settleMilliseconds
  while ((await countWaiting(databaseUrl)) > 0) {
    if (Date.now() > deadline) throw new Error('The worker does not handle the events of the tenants')
    await pause(50)
  }
}

/** Checks that every process runs and a bot replies; returns descriptions of failures. */
async function findBreakdowns(platform: FuzzPlatform, tenant: Tenant): Promise<string[]> {
  const ended = platform.members.flatMap(({ kind, surprises }) =>
    surprises.map(({ code, signal }) => `the ${kind} ended by itself (${signal ?? `code ${code}`})`),
  )
  const { status } = await send('GET', `${platform.url}/readyz`).catch(() => ({ status: 0 }))
  if (status !== 200) ended.push(`/readyz answers ${status}`)
  const action = { type: 'echo', input: { text: 'still there' } }
  const answer = await send('POST', `${platform.url}/v1/chat/actions`, action, tenant.credentials.owner).catch(
    () => undefined,
  )
  if (answer?.body.output?.text !== 'still there') ended.push(`the bot answers ${JSON.stringify(answer?.body)}`)
  return ended
}
