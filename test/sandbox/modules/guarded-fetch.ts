import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { HostFetch } from '#sandbox/protocol/contract.ts'
import { openContext } from '#shared/context.ts'
import { prepareFetch } from '../../../worker/outbound/fetch.ts'
import { openOutbound } from '../../../worker/outbound/open-outbound.ts'
import { createDatabase } from '../../support/databases.ts'
import { configWith, log } from '../../worker/outbound/fixture.ts'

/** The worker's `fetch` of a bot that may request 127.0.0.1, and servers there. */
export interface GuardedFetch extends AsyncDisposable {
  fetch: HostFetch
  /** @returns the address of a server */
  serve(listener: RequestListener): Promise<string>
  /** An address where nothing listens. */
  closed: string
  databaseUrl: string
  /** The metrics, as text. */
  metrics(): Promise<string>
}

export async function openGuardedFetch(environment: NodeJS.ProcessEnv = {}): Promise<GuardedFetch> {
  const database = await createDatabase()
  const usual = { DATABASE_URL: database.url, SANDBOX_NET: '127.0.0.1' }
  const config = configWith(['127.0.0.1'], { ...usual, ...environment })
  const context = openContext(config, log)
  const outbound = openOutbound(config, log)
  const servers: Server[] = []
  const limits = { fetchMilliseconds: 10_000, fetchMegabytes: 10 }
  const empty = createServer()
  const closed = await listen(empty)
  empty.close()
  return {
    fetch: prepareFetch({ ...context, outbound })({ botId: 'bot_1', code: {} as never, limits }),
    closed,
    databaseUrl: database.url,
    metrics: () => context.metrics.registry.metrics(),
    async serve(listener) {
      const server = createServer(listener)
      servers.push(server)
      return listen(server)
    },
    async [Symbol.asyncDispose]() {
      for (const server of servers) {
        server.closeAllConnections()
        server.close()
      }
      await outbound.close()
      await context[Symbol.asyncDispose]()
      await database.drop()
    },
  }
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
