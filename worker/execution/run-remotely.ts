import { randomUUID } from 'node:crypto'
import type { HandlerResponse, Outcome } from '#sandbox/protocol/contract.ts'
import { ApiError } from '#shared/errors.ts'
import {
  tunnelId,
  tunnelLimits,
  tunnelOf,
  type RemoteRequest,
  type RemoteResponse,
  type TunnelOutcome,
  type TunnelSignal,
} from '#shared/models/tunnel.ts'
import { outcomeTopic, tunnelTopic } from '#shared/signals/signals.ts'
import { findTunnelHolder } from '#shared/store/tunnels.ts'
import { traced } from '#shared/telemetry/tracing.ts'
import { readDecoded } from '../outbound/decoded-body.ts'
import { OutboundError } from '../outbound/errors.ts'
import type { WorkerContext } from '../context.ts'

/** A request to code that runs on its author's machine. */
export interface RemoteCall {
  botId: string
  /** The address of the code. */
  url: string
  request: RemoteRequest
  milliseconds: number
}

/** Interval at which a waiting request looks whether its connection still holds the tunnel. */
const holderMilliseconds = 2000

/** The request got no answer. Another attempt may get one. */
class RemoteError extends Error {
  override name = 'RemoteError'
  readonly isTimeout: boolean

  constructor(message: string, { isTimeout = false } = {}) {
    super(message)
    this.isTimeout = isTimeout
  }
}

/**
 * Sends a call of a bundle's `handler` to the address of code under development: through its author's tunnel, or to a
 * public host. The code calls the Runtime API over HTTP with its author's token, so nothing of it is journalled: an
 * attempt that is repeated is repeated in full.
 */
export async function runRemotely(worker: WorkerContext, call: RemoteCall): Promise<Outcome> {
  const ended = { logs: [], cpuMilliseconds: 0, hooks: [] }
  try {
    const response = await traced('remote call', {}, () => send(worker, call), 'client')
    return { ...ended, status: 'done', result: response as HandlerResponse, state: {} }
  } catch (error) {
    if (worker.stopping.aborted) return { ...ended, status: 'interrupted', reason: 'the worker stops' }
    const isExpected = error instanceof RemoteError || error instanceof OutboundError || error instanceof ApiError
    if (!isExpected) throw error
    const isTimeout = error instanceof RemoteError ? error.isTimeout : 'reason' in error && error.reason === 'timeout'
    const { name, message } = error
    return { ...ended, status: 'failed', reason: isTimeout ? 'timeout' : 'error', error: { name, message } }
  }
}

async function send(worker: WorkerContext, call: RemoteCall): Promise<RemoteResponse> {
  const { bytes } = tunnelLimits
  if (Buffer.byteLength(call.request.body) > bytes) {
    throw new RemoteError(`The event has more than ${bytes} bytes, the maximum for code on its author's machine`)
  }
  const { baseUrl } = worker.config.http
  const tunnel = tunnelOf(call.url, baseUrl)
  if (tunnel !== undefined) return sendThroughTunnel(worker, call, tunnel)
  return sendToHost(worker, call).catch((error: unknown) => {
    throw isOfForeignTunnel(error, call.url) ? foreignTunnel(call.url, baseUrl) : error
  })
}

/** Whether a request went to a host that gets none, with the id of a tunnel as its path. */
function isOfForeignTunnel(error: unknown, url: string): error is OutboundError {
  const isRefused = error instanceof OutboundError && ['forbidden', 'unresolvable'].includes(error.reason)
  return isRefused && tunnelId.test(new URL(url).pathname.slice(1))
}

function foreignTunnel(url: string, baseUrl: string): RemoteError {
  return new RemoteError(
    `The code under development is at ${new URL(url).origin}, which is not the address of the platform and gets no ` +
      `requests: run bp dev with a BP_TUNNEL_URL that begins with ${new URL(baseUrl).origin}, as getTunnel returns it`,
  )
}

async function sendThroughTunnel(
  { db, log, signals, stopping }: WorkerContext,
  { botId, request, milliseconds }: RemoteCall,
  tunnel: string,
): Promise<RemoteResponse> {
  const holder = await findTunnelHolder(db, botId, tunnel)
  if (holder === undefined) throw new RemoteError('No tunnel is open to the code under development: run bp dev')
  const id = randomUUID()
  const { promise, resolve } = Promise.withResolvers<TunnelOutcome | 'timeout' | 'stopping'>()
  const unsubscribe = await signals.subscribe(outcomeTopic(id), (signal) => resolve(signal as TunnelOutcome))
  const timer = setTimeout(() => resolve('timeout'), milliseconds)
  // A connection that ends publishes an outcome, unless its process was killed.
  const look = setInterval(() => {
    findTunnelHolder(db, botId, tunnel).then(
      (present) => present !== holder && resolve({ failure: 'closed' }),
      (error: unknown) => log.debug({ err: error }, 'Looking up a tunnel failed; retrying'),
    )
  }, holderMilliseconds)
  const stop = () => resolve('stopping')
  stopping.addEventListener('abort', stop)
  try {
    if (stopping.aborted) stop()
    const signal: TunnelSignal = { id, request, milliseconds }
    await signals.publish(tunnelTopic(holder), signal)
    const outcome = await promise
    if (outcome === 'timeout') throw timedOut(milliseconds)
    if (outcome === 'stopping') throw new RemoteError('The worker stops')
    if ('response' in outcome) return outcome.response
    throw new RemoteError(
      outcome.failure === 'busy'
        ? `The tunnel has ${tunnelLimits.inFlight} requests without an answer: the code under development is too slow`
        : 'The tunnel to the code under development was closed: run bp dev',
    )
  } finally {
    stopping.removeEventListener('abort', stop)
    clearTimeout(timer)
    clearInterval(look)
    unsubscribe()
  }
}

async function sendToHost(
  { outbound }: WorkerContext,
  { botId, url, request, milliseconds }: RemoteCall,
): Promise<RemoteResponse> {
  using response = await outbound.request({
    tenant: botId,
    method: 'POST',
    url,
    headers: request.headers,
    body: request.body,
    // Naming the host with its port permits any port; only the operator permits private addresses.
    allow: [new URL(url).host],
    // A redirect would turn the POST into a GET.
    maxRedirects: 0,
    timeoutMilliseconds: milliseconds,
    maxResponseBytes: tunnelLimits.bytes,
  })
  const chunks: Buffer[] = []
  for await (const chunk of readDecoded(response, tunnelLimits.bytes)) chunks.push(chunk)
  const headers = Object.fromEntries(
    Object.entries(response.headers).map(([name, value]) => [name, [value].flat().join(', ')]),
  )
  return { status: response.status, headers, body: Buffer.concat(chunks).toString('utf8') }
}

function timedOut(milliseconds: number): RemoteError {
  return new RemoteError(`The code under development did not answer within ${milliseconds / 1000} s`, {
    isTimeout: true,
  })
}
