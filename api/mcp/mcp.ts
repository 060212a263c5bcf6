import { Router, type Request as ExpressRequest, type Response as ExpressResponse } from 'express'
import type { Context } from '#shared/context.ts'
import { ApiError } from '#shared/errors.ts'
import { tenantOf } from '#shared/rpc/caller.ts'
import { addLogFields } from '#shared/telemetry/log-scope.ts'
import { program } from '../authenticate.ts'
import { readBody } from '../body.ts'
import { closeOf } from '../close-of.ts'
import type { RequestsInFlight } from '../graceful-close.ts'
import type { Overload } from '../overload.ts'
import { limitUnread } from '../unread-limit.ts'

/**
 * The entry point for clients of the Model Context Protocol, `/mcp/{botId}`: the bot's own actions as tools, over streamable
 * HTTP. It keeps no sessions, so that any api process answers any request, and opens no streams: each answer is one JSON
 * object.
 */
export function mcp(
  context: Context,
  { overload, inFlight }: { overload: Overload; inFlight: RequestsInFlight },
): Router {
  const router = Router()
  router.all('/:botId', async (request, response) => {
    if (request.method !== 'POST') return refuseMethod(response)
    assertOrigin(request, context.config.http.baseUrl)
    await inFlight.track(answer(context, overload, request, response))
  })
  return router
}

async function answer(
  context: Context,
  overload: Overload,
  request: ExpressRequest,
  response: ExpressResponse,
): Promise<void> {
  const botId = String(request.params['botId'])
  const identify = () => program(context, request.headers, botId)
  const caller = await context.dependencies.database.failFast(identify).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 401) response.set('WWW-Authenticate', 'Bearer')
    throw error
  })
  addLogFields({ botId })
  const body = await readBody(request, {
    largeList: undefined,
    hold: (bytes) => overload.hold(response, bytes, tenantOf(caller)),
  })
  // The transport would wait for the answers of requests that another message of the list cancels.
  if (Array.isArray(body)) throw new ApiError('InvalidPayload', 'Send one JSON-RPC message in each request')
  const { answerMessage } = await import('./answer-message.ts')
  const { status, headers, text } = await answerMessage(
    { ...context, caller, callerGone: () => closeOf(response) },
    request,
    body,
  )
  if (response.destroyed) return
  overload.holdAnswer(response, text.length, tenantOf(caller))
  limitUnread(response)
  response.status(status).set(headers).end(text)
}

/** Clients that ask for a stream of notifications go on without it. */
function refuseMethod(response: ExpressResponse): void {
  response.set('Allow', 'POST').status(405)
  response.json({ jsonrpc: '2.0', error: { code: -32_000, message: 'Send messages with POST' }, id: null })
}

/**
 * Refuses requests of pages of other origins, as the protocol demands: a page could otherwise reach a server on its visitor's
 * machine. Clients that are no browsers send no origin.
 */
function assertOrigin(request: ExpressRequest, baseUrl: string): void {
  const { origin } = request.headers
  if (origin === undefined || origin === new URL(baseUrl).origin) return
  throw new ApiError('Forbidden', `Pages of ${origin.slice(0, 200)} may not call this server: its clients are programs`)
}
