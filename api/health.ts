import { Router } from 'express'
import type { Context } from '#shared/context.ts'

/** Platforms that ask whether a process is ready give it a few seconds at most. */
const patienceMilliseconds = 1500

/** `/healthz`: the process answers. `/readyz`: so does what it needs, each by its name. */
export function health({ dependencies }: Context): Router {
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
  return router
}
