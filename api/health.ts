import { Router } from 'express'
import type { Context } from '#shared/context.ts'
import { serveMetrics, metricsPaths } from '#shared/monitoring/metrics-endpoint.ts'
import { readReadiness } from '#shared/monitoring/readiness.ts'

/**
 * `/healthz` answers while the process runs. `/readyz` reports each dependency by name. The metrics endpoint exists
 * where the operator has configured metrics.
 */
export function health(context: Context): Router {
  const router = Router()
  router.get('/healthz', (_request, response) => {
    response.json({ status: 'ok' })
  })
  router.get('/readyz', async (_request, response) => {
    const readiness = await readReadiness(context)
    response.status(readiness.status === 'ok' ? 200 : 503).json(readiness)
  })
  if (!context.config.metrics) return router
  router.get([...metricsPaths], async (request, response) => {
    const { status, headers, body } = await serveMetrics(context, request.path, request)
    response.writeHead(status, headers).end(body)
  })
  return router
}
