import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Context } from '#shared/context.ts'
import { serveMetrics, type TextReply } from '#shared/monitoring/metrics-endpoint.ts'
import { readReadiness } from '#shared/monitoring/readiness.ts'
import type { JobWorkerState } from '#shared/queue/job-worker.ts'
import { answerProtocolErrors } from '#shared/protocol-errors.ts'

const nothing: AsyncDisposable = { async [Symbol.asyncDispose]() {} }

/**
 * Serves a worker's health and metrics on METRICS_PORT, where that is set; a worker opens no other port.
 *
 * @param queueState whether the worker gets jobs; `/readyz` answers 503 while it does not
 * @throws Error when the port is in use
 */
export async function startMonitoringServer(
  context: Context,
  queueState: () => JobWorkerState,
): Promise<AsyncDisposable> {
  const { workerPort: port, http } = context.config
  if (port === undefined) return nothing
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    request.resume()
    const { status, headers, body } = await reply(context, queueState, request)
    response.statusCode = status
    response.setHeaders(new Headers(headers)).end(body)
  }
  const server = createServer({ requireHostHeader: false }, (request, response) => void serve(request, response))
  answerProtocolErrors(server)
  server.listen({ port, ...(http.host && { host: http.host }) })
  try {
    await once(server, 'listening')
  } catch (error) {
    throw new Error(`Listening on METRICS_PORT ${port} failed: set it to a free port`, { cause: error })
  }
  context.log.info({ port: (server.address() as AddressInfo).port }, 'Serving health and metrics')
  return {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Health needs no token: it says no more than the api's own. */
async function reply(context: Context, queueState: () => JobWorkerState, request: IncomingMessage): Promise<TextReply> {
  const path = request.url?.split('?', 1)[0] ?? ''
  if (path === '/healthz') return asJson(200, { status: 'ok' })
  if (path !== '/readyz') return serveMetrics(context, path, request)
  const readiness = await readReadiness(context)
  const queue = queueState()
  const status = readiness.status === 'ok' ? queue : readiness.status
  return asJson(status === 'ok' ? 200 : 503, { ...readiness, queue, status })
}

function asJson(status: number, body: object): TextReply {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8' }, body: JSON.stringify(body) }
}
