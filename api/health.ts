import { Router } from 'express'
import type { Context } from '#shared/context.ts'

/** `/healthz`: the process answers. `/readyz`: so does what it needs. */
export function health({ db, log }: Context): Router {
  const router = Router()
  router.get('/healthz', (_request, response) => {
    response.json({ status: 'ok' })
  })
  router.get('/readyz', async (_request, response) => {
    try {
      await db.raw('select 1')
      response.json({ status: 'ok', database: 'ok' })
    } catch (error) {
      log.warn({ err: error }, 'The database does not answer')
      response.status(503).json({ status: 'unavailable', database: 'unavailable' })
    }
  })
  return router
}
