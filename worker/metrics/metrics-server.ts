import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Context } from '#shared/context.ts'
import { serveMetrics } from '#shared/monitoring/metrics-endpoint.ts'
import { answerProtocolErrors } from '#shared/protocol-errors.ts'

const nothing: AsyncDisposable = { async [Symbol.asyncDispose]() {} }

/**
 * Serves a worker's metrics on METRICS_PORT, where that is set; a worker opens no other port.
 *
 * @throws Error when the port is in use
 */
export async function startMetricsServer(context: Context): Promise<AsyncDisposable> {
  const { metrics: settings, http } = context.config
  if (settings?.workerPort === undefined) return nothing
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    const path = request.url?.split('?', 1)[0] ?? ''
    request.resume()
    void serve(path, request, response)
  })
  const serve = async (path: string, request: IncomingMessage, response: ServerResponse) => {
    const { status, headers, body } = await serveMetrics(context, path, request)
    response.statusCode = status
    response.setHeaders(new Headers(headers)).end(body)
  }
  answerProtocolErrors(server)
  const { workerPort: port } = settings
  server.listen({ port, ...(http.host && { host: http.host }) })
  try {
    await once(server, 'listening')
  } catch (error) {
    throw new Error(`Listening on METRICS_PORT ${port} failed: set it to a free port`, { cause: error })
  }
  context.log.info({ port: (server.address() as AddressInfo).port }, 'Serving metrics')
  return {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
