import { Router, type Request, type RequestHandler } from 'express'
import type { Context } from '#shared/context.ts'
import { logFailure } from '#shared/dispatch.ts'
import { ApiError, notFound } from '#shared/errors.ts'
import { closeOf } from '../close-of.ts'
import { endUnread } from '../end-unread.ts'
import type { Overload } from '../overload.ts'
import { answerAuthorization, authorizationPages } from './authorization.ts'
import { deliver, findEnabled, type Hold } from './deliver.ts'
import { answerGlobal } from './global.ts'
import { toErrorReply, toWebhookReply, type WebhookReply } from './reply.ts'

/** Answers a request of an external service. */
export type Answer = (context: Context, request: Request, hold: Hold) => Promise<WebhookReply>

/** An address that bundles of the public SDK make: the origin of the platform and the webhook id. */
const bareAddress = /^\/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}(\/|$)/

/**
 * The entry points for external services: any method, path, query and body.
 *
 * - `/webhooks/{webhookId}/…`, and `/{webhookId}/…`: one installation
 * - `/integration/global/{name}/…`: all installations of an integration; a script finds the one
 * - `/oauth/…`: the installation whose webhook id is the `state` of the query
 */
export function webhooks(context: Context, overload: Overload): Router {
  const router = Router()
  const answering = (answer: Answer) => handlerOf(context, overload, answer)
  const one = answering(answerOne)
  router.use('/webhooks', one)
  router.use((request, response, next) => (bareAddress.test(request.path) ? one(request, response, next) : next()))
  router.use('/integration/global', answering(answerGlobal))
  router.use(authorizationPages(context))
  router.use('/oauth', answering(answerAuthorization))
  return router
}

function handlerOf(context: Context, overload: Overload, answer: Answer): RequestHandler {
  return async (request, response) => {
    const hold: Hold = (bytes, tenant) => overload.hold(response, bytes, tenant)
    const given = { ...context, callerGone: () => closeOf(response) }
    const reply = await answerWith(context, request, () => answer(given, request, hold))
    if (response.destroyed) return
    response.statusCode = reply.status
    response.setHeaders(new Headers(reply.headers))
    endUnread(request)
    response.end(reply.body)
  }
}

/** Never throws: errors become replies. */
async function answerWith(
  context: Context,
  request: Request,
  answer: () => Promise<WebhookReply>,
): Promise<WebhookReply> {
  try {
    return await context.dependencies.database.failFast(answer)
  } catch (cause) {
    const error = ApiError.from(cause)
    const isGone = request.destroyed && !request.complete
    if (!isGone) logFailure(context, error, { path: request.path })
    return toErrorReply(error)
  }
}

const answerOne: Answer = async (context, request, hold) => {
  const [, webhookId = '', path = ''] = /^\/([^/]*)(.*)$/.exec(request.path) ?? []
  const installation = await findEnabled(context, webhookId)
  if (!installation) throw notFound(`Webhook '${webhookId}'`)
  return toWebhookReply(await deliver(context, request, { installation, path }, hold))
}
