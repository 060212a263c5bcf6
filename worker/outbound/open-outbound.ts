import { LRUCache } from 'lru-cache'
import { Agent, Pool, type Dispatcher } from 'undici'
import type { Config } from '#shared/config/config.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import { Deadline } from './deadline.ts'
import { OutboundError } from './errors.ts'
import { firstRequest, redirectedRequest, redirectOf, type HttpRequest, type Method } from './redirects.ts'
import { openAddressPolicy } from './address-policy.ts'
import type { Resolve } from './resolver.ts'
import { readTarget, type Allow, type Target } from './targets.ts'

/** A request that somebody whom we do not trust wants to be sent. */
export interface OutboundRequest {
  /** On whose behalf, for instance a bot's id. Connections are never shared between tenants. */
  tenant: string
  url: string | URL
  method: Method
  /** What is said about the connection itself (`host`, `content-length`, `transfer-encoding` …) is left out. */
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** The hosts that it may go to, redirects included. Ports other than 80 and 443 have to be named. */
  allow: Allow
  /** For all of it: names, connections, redirects and the body of the answer. */
  timeoutMilliseconds: number
  maxResponseBytes: number
  /** How many redirects are followed, 3 unless given. With 0 a redirect is an answer like any other. */
  maxRedirects?: number
  /** Takes the request back. */
  signal?: AbortSignal
}

/** An answer. Whoever does not read its body to the end disposes of it; otherwise its connection waits for the timeout. */
export interface OutboundResponse extends Disposable {
  status: number
  statusText: string
  /** Names in lower case. */
  headers: Record<string, string | string[]>
  /** As it comes over the wire: nothing is decompressed. Reading it throws OutboundError. */
  body: AsyncIterable<Buffer>
  /** Whose answer it is, after redirects. */
  url: string
  /** From now on the request's time is for each wait for more of the body, and not for all of it. */
  limitIdleness(): void
}

/** The one way by which requests leave the platform on somebody's behalf. */
export interface Outbound {
  /** @throws OutboundError */
  request(options: OutboundRequest): Promise<OutboundResponse>
  /** Takes back what is under way and closes all connections. */
  close(): Promise<void>
}

/** Connections of one tenant to one origin; further requests wait for one within their own time. */
const connectionsPerOrigin = 32

/** A server may ask to be held on to for longer, and the name may have moved by then. */
const keepAliveMilliseconds = 10_000

const keptAgents = 1000

/** @param overrides `resolve` finds the addresses of names in place of the name servers */
export function openOutbound(config: Config, log: Logger, overrides: { resolve?: Resolve } = {}): Outbound {
  const reach = openAddressPolicy(config, log, overrides.resolve)
  const inFlight = new Set<Deadline>()
  // An idle agent holds no connections, so one that is forgotten costs nothing but its making.
  const agents = new LRUCache<string, Agent>({ max: keptAgents, dispose: (agent) => void agent.close() })
  let closed = false

  /**
   * The connections for a target. Their sockets were judged when they were made, so requests share them only where the
   * verdict is the same: of one tenant, and allowed the same by its list.
   */
  function agentFor(tenant: string, { portIsNamed, mayBePrivate }: Target): Agent {
    const key = `${portIsNamed} ${mayBePrivate} ${tenant}`
    const known = agents.get(key)
    if (known) return known
    const agent = new Agent({ factory: (origin) => openPool(new URL(origin), { portIsNamed, mayBePrivate }) })
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
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const target = readTarget(request.url, options.allow)
    await reach.checkAddress(target)
    signal.throwIfAborted()
    const { origin, pathname, search } = request.url
    const { method, headers, body = null } = request
    const agent = agentFor(options.tenant, target)
    // The deadline is the only clock.
    const timeouts = { headersTimeout: 0, bodyTimeout: 0 }
    return agent.request({ origin, path: pathname + search, method, headers, body, signal, ...timeouts })
  }

  async function follow(options: OutboundRequest, deadline: Deadline): Promise<[HttpRequest, Dispatcher.ResponseData]> {
    const { maxRedirects = 3 } = options
    let request = firstRequest(options)
    for (let followed = 0; ; followed++) {
      const answer = await sendInTime(request, options, deadline)
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

  async function sendInTime(
    request: HttpRequest,
    options: OutboundRequest,
    deadline: Deadline,
  ): Promise<Dispatcher.ResponseData> {
    try {
      // A signal does not interrupt the making of a connection: that goes on alone, and its outcome is nobody's.
      return await Promise.race([send(request, options, deadline.signal), deadline.expired])
    } catch (error) {
      throw OutboundError.from(error, request.url.hostname)
    }
  }

  return {
    async request(options) {
      if (closed) throw new OutboundError('aborted', 'The platform is stopping: try again later')
      const deadline = new Deadline(options.timeoutMilliseconds, options.signal)
      inFlight.add(deadline)
      const end = (): void => {
        deadline.end()
        inFlight.delete(deadline)
      }
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
    async close() {
      closed = true
      for (const deadline of inFlight) deadline.abort(new OutboundError('aborted', 'The platform is stopping'))
      await Promise.all([...agents.values()].map((agent) => agent.destroy()))
    },
  }
}

/** Passes the body on, and breaks off where it exceeds the limit. */
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

/** Whoever reads a body learns of its failure; the stream must not bring the process down when nobody does. */
function ignore(): void {}
