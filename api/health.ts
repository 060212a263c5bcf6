import { Router } from 'express'
import type { Context } from '#shared/context.ts'
import { serveMetrics, metricsPaths } from '#shared/monitoring/metrics-endpoint.ts'

/** Platforms that ask whether a process is ready give it a few seconds at most. */
const patienceMilliseconds = 1500

/**
 * `/healthz`: the process answers. `/readyz`: so does what it needs, each by its name. And the figures of those who run
 * it, where they have set a token for them.
 */
export function health(context: Context): Router {
  const { dependencies, config } = context
  const router = Router()
  router.get('/healthz', (_request, response) => {
    response.json({ status: 'ok' })
  })
  router.get('/readyz', async (_request, response) => {
    const checks = await Promise.all(dependencies.all.map((dependency) => dependency.check(patienceMilliseconds)))
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
