import { LRUCache } from 'lru-cache'
import { Agent, Pool, type Dispatcher } from 'undici'
import type { FetchConnection, TlsOptions } from '#sandbox/protocol/contract.ts'
import type { Config } from '#shared/config/config.ts'
import { completeResponses } from '#shared/connectivity/complete-responses.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import { openConnection, type ConnectionMetrics, type Lease } from './connections.ts'
import { Deadline } from './deadline.ts'
import { OutboundError } from './errors.ts'
import { firstRequest, redirectedRequest, redirectOf, type HttpRequest, type Method } from './redirects.ts'
import { openAddressPolicy } from './address-policy.ts'
import type { Resolve } from './resolver.ts'
import { isStream, toReadable, type RequestStream } from './request-stream.ts'
import { readConnectionTarget, readTarget, type Allow, type Target } from './targets.ts'

/** A request of an untrusted caller. */
export interface OutboundRequest {
  /** The owner of the request, for instance a bot's id. Tenants never share connections. */
  tenant: string
  url: string | URL
  method: Method
  /** Headers of the connection (`host`, `content-length`, `transfer-encoding` …) are removed. */
  headers?: Record<string, string>
  body?: string | Uint8Array | RequestStream
  /** The permitted hosts, for redirects too. Ports other than 80 and 443 must be named. */
  allow: Allow
  /** Time for the whole request: name lookups, connections, redirects and the body of the response. */
  timeoutMilliseconds: number
  maxResponseBytes: number
  /** Upper bound of followed redirects, 3 by default. With 0, a redirect is returned like any other response. */
  maxRedirects?: number
  /** Aborts the request. */
  signal?: AbortSignal
}

/** A response. A caller that does not read the body to its end must dispose of it, or its connection stays until the timeout. */
export interface OutboundResponse extends Disposable {
  status: number
  statusText: string
  /** Names in lower case. */
  headers: Record<string, string | string[]>
  /** The body as received, not decompressed. Reading it throws OutboundError. */
  body: AsyncIterable<Buffer>
  /** The final URL, after redirects. */
  url: string
  /** From now on, the time limit applies to each wait for more of the body instead of the whole request. */
  limitIdleness(): void
}

/** A connection that an untrusted caller opens. */
export interface OutboundConnection {
  /** `tcp://host:port` or `tls://host:port`. */
  url: string
  tls: TlsOptions | undefined
  content: AsyncIterable<Uint8Array>
  /** The permitted hosts with their ports. The operator has to permit them as well, in `OUTBOUND_CONNECT`. */
  allow: string[]
  /** Time until the connection is open. */
  timeoutMilliseconds: number
  /** Upper bounds of the bytes received, and of those sent. */
  maxBytes: number
  maxSentBytes: number
  /** Closes the connection. */
  signal: AbortSignal
  metrics: ConnectionMetrics
  /** Counts the memory of the connection, and of that which continues it with TLS, until it is disposed. @throws OutboundError */
  hold(): Disposable
}

/** Sends all requests of tenants. */
export interface Outbound {
  /** @throws OutboundError */
  request(options: OutboundRequest): Promise<OutboundResponse>
  /** Opens a connection. @throws OutboundError */
  connect(options: OutboundConnection): Promise<FetchConnection>
  /** Aborts the requests in flight and closes all connections. */
  close(): Promise<void>
}

/** Connections of one tenant to one origin; further requests wait for one within their own time. */
const connectionsPerOrigin = 32

/** Upper bound of keep-alive, also if the server asks for more: the name's addresses may change. */
const keepAliveMilliseconds = 10_000

const keptAgents = 1000

/** @param overrides `resolve` replaces the name servers */
export function openOutbound(config: Config, log: Logger, overrides: { resolve?: Resolve } = {}): Outbound {
  const reach = openAddressPolicy(config, log, overrides.resolve)
  const inFlight = new Set<Deadline>()
  // An idle agent holds no connections, so an evicted agent costs only its creation.
  const agents = new LRUCache<string, Dispatcher>({ max: keptAgents, dispose: (agent) => void agent.close() })
  let closed = false

  /**
   * The connections for a target. The address of a socket is checked when the socket opens, so requests share sockets
   * only where the check has the same result: within one tenant, with the same permissions.
   */
  function agentFor(tenant: string, { portIsNamed, mayBePrivate }: Target): Dispatcher {
    const key = `${portIsNamed} ${mayBePrivate} ${tenant}`
    const known = agents.get(key)
    if (known) return known
    const factory = (origin: string | URL) => openPool(new URL(origin), { portIsNamed, mayBePrivate })
    const agent = new Agent({ factory }).compose(completeResponses)
    agents.set(key, agent)
    return agent
  }

  function openPool(origin: URL, allowed: Pick<Target, 'portIsNamed' | 'mayBePrivate'>): Pool {
    const target = { ...readTarget(origin, 'public'), ...allowed }
    return new Pool(origin, {
      connections: connectionsPerOrigin,
      keepAliveMaxTimeout: keepAliveMilliseconds,
      allowH2: false,
      connect: { lookup: reach.lookupFor(target), autoSelectFamily: true },
    })
  }

  async function send(
    request: HttpRequest,
    options: OutboundRequest,
    deadline: Deadline,
  ): Promise<Dispatcher.ResponseData> {
    const { signal } = deadline
    const target = readTarget(request.url, options.allow)
    await reach.checkAddress(target)
    signal.throwIfAborted()
    const { origin, pathname, search } = request.url
    const { method, body: given = null } = request
    const isSentInParts = given !== null && isStream(given)
    const body = isSentInParts ? toReadable(given, deadline) : given
    const length = isSentInParts ? given.length : undefined
    const headers = { ...request.headers, ...(length !== undefined && { 'content-length': String(length) }) }
    const agent = agentFor(options.tenant, target)
    // Only the deadline limits the time.
    const timeouts = { headersTimeout: 0, bodyTimeout: 0 }
    // A service may take the body of such a request, which HTTP leaves undefined, for the next one on the connection.
    const reset = body !== null && (method === 'GET' || method === 'HEAD')
    return agent.request({ origin, path: pathname + search, method, headers, body, signal, reset, ...timeouts })
  }

  async function follow(options: OutboundRequest, deadline: Deadline): Promise<[HttpRequest, Dispatcher.ResponseData]> {
    const { maxRedirects = 3 } = options
    let request = firstRequest(options)
    for (let followed = 0; ; followed++) {
      const answer = await sendBeforeDeadline(request, options, deadline)
      const location = redirectOf(answer.statusCode, answer.headers)
      if (location === undefined || maxRedirects === 0) return [request, answer]
      answer.body.on('error', ignore).destroy()
      if (followed === maxRedirects) {
        const message = `${request.url.hostname} redirects more than ${maxRedirects} times: request the final URL`
        throw new OutboundError('too-many-redirects', message)
      }
      request = redirectedRequest(request, answer.statusCode, location)
    }
  }

  async function sendBeforeDeadline(
    request: HttpRequest,
    options: OutboundRequest,
    deadline: Deadline,
  ): Promise<Dispatcher.ResponseData> {
    try {
      // A signal does not interrupt the opening of a connection, which continues and whose outcome is ignored.
      return await Promise.race([send(request, options, deadline), deadline.expired])
    } catch (error) {
      throw OutboundError.from(error, request.url.hostname)
    }
  }

  function begin(milliseconds: number, signal: AbortSignal | undefined): Deadline {
    if (closed) throw new OutboundError('aborted', 'The platform is stopping: try again later')
    const deadline = new Deadline(milliseconds, signal)
    inFlight.add(deadline)
    return deadline
  }

  function over(deadline: Deadline): void {
    deadline.end()
    inFlight.delete(deadline)
  }

  return {
    async request(options) {
      const deadline = begin(options.timeoutMilliseconds, options.signal)
      const end = () => over(deadline)
      try {
        const [{ url }, answer] = await follow(options, deadline)
        answer.body.on('error', ignore).once('close', end)
        return {
          status: answer.statusCode,
          statusText: answer.statusText,
          headers: answer.headers as Record<string, string | string[]>,
          body: upTo(options.maxResponseBytes, answer.body, url.hostname, deadline),
          url: url.href,
          limitIdleness: () => deadline.limitIdleness(),
          [Symbol.dispose]: () => void answer.body.destroy(),
        }
      } catch (error) {
        end()
        throw error
      }
    },
    async connect({ url, tls, allow, timeoutMilliseconds, signal, hold, ...others }) {
      const target = readConnectionTarget(url, allow, config.outbound.connect)
      const lease = (caller: AbortSignal): Lease => {
        using held = new DisposableStack()
        held.use(hold())
        const deadline = held.adopt(begin(timeoutMilliseconds, caller), over)
        const all = held.move()
        return { deadline, end: () => all.dispose() }
      }
      const first = lease(signal)
      try {
        await reach.checkAddress(target)
        return await openConnection({ target, lookup: reach.lookupFor(target), tls, lease, ...others }, first)
      } catch (error) {
        first.end()
        throw error
      }
    },
    async close() {
      closed = true
      for (const deadline of inFlight) deadline.abort(new OutboundError('aborted', 'The platform is stopping'))
      await Promise.all([...agents.values()].map((agent) => agent.destroy()))
    },
  }
}

/** Passes the body on, up to the limit. */
async function* upTo(
  bytes: number,
  body: AsyncIterable<Buffer>,
  host: string,
  deadline: Deadline,
): AsyncGenerator<Buffer> {
  let left = bytes
  try {
    deadline.startWait()
    for await (const chunk of body) {
      deadline.endWait()
      left -= chunk.length
      if (left < 0) throw new OutboundError('too-large', `The response of ${host} is larger than ${bytes} bytes`)
      yield chunk
      deadline.startWait()
    }
  } catch (error) {
    throw OutboundError.from(error, host)
  } finally {
    deadline.endWait()
  }
}

/** The reader of a body receives its failure; without a reader, the failure must not end the process. */
function ignore(): void {}
