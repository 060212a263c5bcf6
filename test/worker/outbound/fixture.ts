import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { readConfig } from '#shared/config/config.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { openOutbound, type Outbound, type OutboundRequest } from '../../../worker/outbound/open-outbound.ts'
import type { Resolve } from '../../../worker/outbound/resolver.ts'

export const log = createLogger('test', 'silent')

/** A server that requests may want to reach. */
export interface Target extends AsyncDisposable {
  port: number
  /** `http://127.0.0.1:port` */
  url: string
  /** The requests that have come, as `METHOD /path`. */
  requests: string[]
  /** Connections that were ever made to it, requested something or not. */
  connections(): number
  openConnections(): Promise<number>
}

/** Starts a server on 127.0.0.1. */
export async function startTarget(answer: RequestListener): Promise<Target> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    answer(request, response)
  })
  let connections = 0
  server.on('connection', () => connections++)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    requests,
    connections: () => connections,
    openConnections: () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A configuration with these openings; its database and Redis are somewhere else unless the environment says where. */
export function configWith(openings: string[], environment: NodeJS.ProcessEnv = {}) {
  return readConfig({
    DATABASE_URL: 'postgres://127.0.0.1:1/none',
    ISOBOT_SECRET: 's'.repeat(32),
    OUTBOUND_ALLOW_PRIVATE: openings.join(','),
    ...environment,
  })
}

/** A resolver that knows these names and no others. */
export function namesAt(addresses: Record<string, string[]>): Resolve {
  return async (host) => (addresses[host] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
}

export interface Guard extends AsyncDisposable {
  outbound: Outbound
  /** Requests a URL, reads the answer and its body. All else is usual. */
  ask(url: string, options?: Partial<OutboundRequest>): Promise<{ status: number; url: string; text: string }>
}

export function openGuard(
  openings: string[],
  { resolve, environment }: { resolve?: Resolve; environment?: NodeJS.ProcessEnv } = {},
): Guard {
  const outbound = openOutbound(configWith(openings, environment), log, resolve && { resolve })
  return {
    outbound,
    async ask(url, options) {
      const response = await outbound.request({ ...usual, url, ...options })
      return { status: response.status, url: response.url, text: String(await buffer(response.body)) }
    },
    [Symbol.asyncDispose]: () => outbound.close(),
  }
}

export const usual = {
  tenant: 'bot_1',
  method: 'GET',
  allow: 'public',
  timeoutMilliseconds: 20_000,
  maxResponseBytes: 1024 * 1024,
} as const
