import { Router } from 'express'
import type { Context } from '#shared/context.ts'
import { serveMetrics, metricsPaths } from '#shared/monitoring/metrics-endpoint.ts'

/** Readiness probes of platforms time out after a few seconds. */
const checkMilliseconds = 1500

/**
 * `/healthz` answers while the process runs. `/readyz` reports each dependency by name. The metrics endpoint exists
 * where the operator has configured metrics.
 */
export function health(context: Context): Router {
  const { dependencies, config } = context
  const router = Router()
  router.get('/healthz', (_request, response) => {
    response.json({ status: 'ok' })
  })
  router.get('/readyz', async (_request, response) => {
    const checks = await Promise.all(dependencies.all.map((dependency) => dependency.check(checkMilliseconds)))
    const isReady = checks.every(Boolean)
    response.status(isReady ? 200 : 503).json({
      status: isReady ? 'ok' : 'unavailable',
      ...Object.fromEntries(dependencies.all.map(({ name }, index) => [name, checks[index] ? 'ok' : 'unavailable'])),
    })
  })
  if (!config.metrics) return router
  router.get([...metricsPaths], async (request, response) => {
    const { status, headers, body } = await serveMetrics(context, request.path, request)
    response.writeHead(status, headers).end(body)
  })
  return router
}
