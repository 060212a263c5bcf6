import cors from 'cors'
import { Router, type Request, type Response } from 'express'
import type { Context } from '#shared/context.ts'
import type { RequestsInFlight } from '../graceful-close.ts'
import type { Overload } from '../overload.ts'
import { requestIdHeader } from '../request-scope.ts'
import { serveContent } from './serve-content.ts'
import { answerUpload } from './receive-upload.ts'

/**
 * Lets pages of any origin send and read contents. The address is the only credential, so no request has cookies: with a
 * wildcard, browsers refuse answers to requests with credentials.
 */
export const allowPages = cors({
  origin: '*',
  methods: ['GET', 'HEAD', 'PUT'],
  allowedHeaders: ['content-type', 'x-amz-tagging', 'range', 'if-none-match', 'if-range'],
  exposedHeaders: ['Content-Length', 'Content-Range', 'Content-Disposition', 'ETag', requestIdHeader],
  maxAge: 86_400,
})

/**
 * The entry points for contents of files, whose bytes do not cross the API: `PUT /files/upload/{token}`, and
 * `GET /files/{public id or token}/{name}`. A request has no caller: its address is signed, or random and public.
 */
export function files(context: Context, overload: Overload, inFlight: RequestsInFlight): Router {
  const router = Router()
  const answer = (work: () => Promise<void>) => inFlight.track(context.dependencies.database.failFast(work))
  router.put('/upload/:token', (request: Request<{ token: string }>, response: Response) =>
    answer(() => answerUpload(context, overload, request, response)),
  )
  // Express answers HEAD with the handler of GET.
  router.get('/:address/:name', (request: Request<{ address: string; name: string }>, response: Response) =>
    answer(() => serveContent(context, overload, request, response)),
  )
  return router
}
