import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import cors from 'cors'
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express'
import { dispatch, logFailure, toReply, type Reply } from '#shared/dispatch.ts'
import { botOf, tenantOf, type Caller } from '#shared/rpc/caller.ts'
import type { Operation } from '#shared/rpc/operation.ts'
import type { Context } from '#shared/context.ts'
import { ApiError } from '#shared/errors.ts'
import { answerProtocolErrors, assertHost } from '#shared/protocol-errors.ts'
import { limitArrival } from './arrival-limit.ts'
import { identify } from './authenticate.ts'
import { readBody } from './body.ts'
import { routerNetworks } from './client-address.ts'
import { closeOf } from './close-of.ts'
import { consolePages } from './console/pages.ts'
import { allowPages, files } from './files/files.ts'
import { sendContent } from './files/serve-content.ts'
import { openFairAdmission, type FairAdmission } from './fair-admission.ts'
import { EndlessStreams, prepareClose, RequestsInFlight } from './graceful-close.ts'
import { health } from './health.ts'
import { toHttpError } from './http-error.ts'
import { withKeyOfQuery } from './key-in-query.ts'
import { LargeBodies } from './large-bodies/large-bodies.ts'
import { openApi } from './openapi.ts'
import { mcp } from './mcp/mcp.ts'
import { openOverload, type Overload } from './overload.ts'
import { limitConnections } from './connection-limit.ts'
import { openRateLimiter, rateLimitHeaders, type RateLimiter } from './rate-limit.ts'
import { openEventStream } from './realtime/event-stream.ts'
import { openRealtime, type Listening, type Realtime } from './realtime/realtime.ts'
import { withLogFieldsOf, requestIdHeader, scopeRequests } from './request-scope.ts'
import { sendJson } from './send-json.ts'
import { sendLines } from './send-lines.ts'
import { signInPages } from './sign-in/sign-in.ts'
import { openTunnels } from './tunnels/tunnels.ts'
import { acceptUpgrades, wantsWebSocket } from './upgrade.ts'
import { webhooks } from './webhooks/webhooks.ts'
import { widget } from './webchat/widget.ts'

interface AppParts {
  realtime: Realtime
  rateLimiter: RateLimiter
  overload: Overload
  admission: FairAdmission
  inFlight: RequestsInFlight
  endless: EndlessStreams
  largeBodies: LargeBodies
}

/** The HTTP entry point: dispatches a request to an operation, and sends its reply as the response. */
export function createApp(context: Context, parts: AppParts): RequestListener {
  const app = routesOf(context, parts)
  return (request, response) =>
    app(request as Request, response as Response, (cause?: unknown) => {
      // The status and headers are already sent, so the error cannot be reported.
      if (response.headersSent) return void request.socket.destroy()
      const unreadable = new ApiError('InvalidPayload', 'The request target is invalid: send a path or an absolute URL')
      respond(request as Request, response as Response, toReply(cause === undefined ? unreadable : toHttpError(cause)))
    })
}

function routesOf(context: Context, parts: AppParts): Express {
  const { realtime, rateLimiter, overload, admission, inFlight, endless, largeBodies } = parts
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('trust proxy', routerNetworks)
  app.use((request, _response, next) => {
    assertHost(request)
    next()
  })
  app.use(health(context))
  app.use('/chat', allowBrowsers)
  app.use('/webchat', allowVisitors)
  app.use('/api', allowBrowsers)
  app.use('/files', allowPages)
  app.use(overload.handle)
  // Scripts and pages store nothing, and a site may have many visitors behind one address: they count as no requests.
  app.use('/webchat', widget(context))
  app.use(rateLimiter.handle)
  app.use(openApi(context))
  // Most requests are a chat's, which need none of what follows.
  app.use((request, response, next) => (request.path.startsWith('/chat/') ? answer(request, response) : next()))
  app.use(webhooks(context, overload))
  app.use('/files', files(context, overload, inFlight))
  app.use('/mcp', mcp(context, { overload, inFlight }))
  app.use(consolePages())
  app.use(signInPages(context))
  app.use(answer)
  app.use(answerErrors(context))
  return app

  async function answer(request: Request, response: Response): Promise<void> {
    const body = async (caller: Caller, { largeList, form, input, isClosed }: Operation) => {
      const botId = botOf(caller)
      if (botId !== undefined) await admission.admit(botId, response)
      return readBody(request, {
        // The answer is stored, and the request compared with later ones, as one text.
        largeList: request.get('idempotency-key') === undefined ? largeList : undefined,
        form,
        hold: (bytes) => overload.hold(response, bytes, tenantOf(caller)),
        parseLarge: (bytes, encoding) => largeBodies.parse({ bytes, encoding, schema: isClosed ? undefined : input }),
      })
    }
    const holdAnswer = (caller: Caller, bytes: number) => overload.holdAnswer(response, bytes, tenantOf(caller))
    const asked = fromHttp(context, request, body)
    let caller: Caller | undefined
    const identified: typeof asked.identify = async (...parameters) => (caller = await asked.identify(...parameters))
    const given = { ...asked, identify: identified, holdAnswer, callerGone: () => closeOf(response) }
    const reply = await inFlight.track(dispatch(context, given))
    if (reply.stream) {
      response.status(reply.status).set(reply.headers ?? {})
      const sent = inFlight.track(sendLines(response, reply.stream))
      if (reply.stream.isEndless) {
        overload.leave(response)
        endless.add(reply.stream, sent)
      }
      await sent
    } else if (reply.content) {
      response.status(reply.status).set(reply.headers ?? {})
      await inFlight.track(sendContent(context, overload, reply.content, response))
    } else if (reply.opensStream) {
      await realtime.open(reply.body as Listening, () => {
        overload.leave(response)
        return openEventStream(response)
      })
    } else {
      // A refusal after a write would hide that it was done, and the body of most holds as many bytes as the answer.
      const isRead = request.method === 'GET'
      respond(request, response, reply, (bytes) => isRead && caller && holdAnswer(caller, bytes))
    }
  }
}

const methods = ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS']
const exposedHeaders = [...rateLimitHeaders, 'Idempotent-Replayed', requestIdHeader]

/**
 * Lets pages of any origin read what a web chat answers. Its configuration decides which it answers with more than a
 * refusal (`identify`). Published clients send no credentials but the key in the header.
 */
const allowVisitors = cors({ methods, exposedHeaders, optionsSuccessStatus: 200 })

/**
 * Lets pages of any origin call a chat, with credentials, as published clients in browsers do; the key in the header is
 * what authenticates. With credentials a wildcard is invalid, so the response echoes the requested origin and headers.
 */
const allowBrowsers = cors({
  origin: true,
  credentials: true,
  methods,
  exposedHeaders,
  optionsSuccessStatus: 200,
})

/** Answers errors outside of `dispatch` (a stream that cannot be opened) in the same format. */
function answerErrors(context: Context): ErrorRequestHandler {
  return (cause, request, response, next) => {
    const error = toHttpError(cause)
    logFailure(context, error, { method: request.method, path: request.url.split('?', 1)[0] })
    if (response.headersSent) return next(cause)
    for (const name of headersOfFiles) response.removeHeader(name)
    respond(request, response, toReply(error))
  }
}

/** Headers that describe a file's encoding and caching: an error that replaces the file must not carry them. */
const headersOfFiles = [
  'Content-Type',
  'Content-Length',
  'Content-Encoding',
  'Content-Disposition',
  'Cache-Control',
  'ETag',
  'Last-Modified',
  'Accept-Ranges',
]

const retryStreamSeconds = 5

/**
 * Sends a reply. A client that requests a stream never receives a status of 500 or above: event sources of published
 * clients would retry every second, without end and without reporting it.
 */
function respond(request: Request, response: Response, reply: Reply, hold?: (bytes: number) => void): void {
  const wantsStream = request.headers.accept === 'text/event-stream'
  response.set(reply.headers ?? {})
  if (reply.status < 500 || !wantsStream) return sendJson(response.status(reply.status), reply.body, { hold })
  const error = new ApiError('RateLimited', 'Too many streams are open: try again later')
  response.set('Retry-After', String(retryStreamSeconds)).status(error.status).json(error.toJSON())
}

function fromHttp(
  context: Context,
  request: Request,
  body: (caller: Caller, operation: Operation) => Promise<unknown>,
) {
  // Reconnecting event sources send the last id they received in a header, or in the query where they cannot set one.
  const lastEventId = request.headers['last-event-id']
  const idempotencyKey = request.get('idempotency-key')
  return {
    method: request.method,
    path: request.path,
    query: { ...request.query, ...(lastEventId && { lastEventId }) },
    header: (name: string) => request.get(name),
    idempotencyKey,
    body,
    identify: withLogFieldsOf((operation, parameters) => {
      const { headers } = request
      const credentials = operation.opensStream ? withKeyOfQuery(headers, request.query['x-user-key']) : headers
      return identify(context, credentials)(operation, parameters)
    }),
  }
}

/** Longer than proxies of the usual platforms keep idle connections, so that the proxy closes them first. */
const keepAliveMilliseconds = 95_000

/** Maximum of connections that wait to be accepted. Those beyond it get no answer, and clients retry seconds later. */
const backlog = 4096

export interface RunningServer extends AsyncDisposable {
  port: number
}

/**
 * Starts to listen. Disposing ends the streams and the idle connections, waits for the requests in flight, and closes.
 *
 * @param drainMilliseconds how long to continue serving before that, until routers stop sending requests
 * @throws Error naming the port when it is in use
 */
export async function startServer(context: Context, drainMilliseconds = 0): Promise<RunningServer> {
  const realtime = openRealtime(context)
  const rateLimiter = openRateLimiter(context)
  const overload = openOverload(context)
  const admission = openFairAdmission(context)
  const inFlight = new RequestsInFlight()
  const endless = new EndlessStreams()
  const largeBodies = new LargeBodies()
  const parts = { realtime, rateLimiter, overload, admission, inFlight, endless, largeBodies }
  const handle = scopeRequests(context, createApp(context, parts))
  const server = createServer({ shouldUpgradeCallback: wantsWebSocket, requireHostHeader: false }, handle)
  answerProtocolErrors(server)
  limitArrival(server)
  limitConnections(server, context)
  const tunnels = openTunnels(context)
  acceptUpgrades(server, { context, tunnels, ...parts })
  server.keepAliveTimeout = keepAliveMilliseconds
  const { leave, close } = prepareClose(server)
  try {
    await listen(server, context.config.http)
  } catch (error) {
    rateLimiter.close()
    overload.close()
    throw error
  }
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      await leave(drainMilliseconds)
      endless.close()
      await Promise.all([close(), realtime.close(), tunnels.close()])
      await inFlight.settled()
      await largeBodies.close()
      rateLimiter.close()
      overload.close()
    },
  }
}

async function listen(server: Server, { port, host }: Context['config']['http']): Promise<void> {
  try {
    server.listen({ port, backlog, ...(host && { host }) })
    await once(server, 'listening')
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'EADDRINUSE') throw error
    throw new Error(`Port ${port} is in use by another program: stop it, or set PORT to another number`, {
      cause: error,
    })
  }
}
