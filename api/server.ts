import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import cors from 'cors'
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express'
import { answer } from '#shared/answer.ts'
import type { Context } from '#shared/context.ts'
import { ApiError } from '#shared/errors.ts'
import { identify } from './authenticate.ts'
import { readBody } from './body.ts'
import { health } from './health.ts'
import { createRealtime, type Listening, type Realtime } from './realtime.ts'

/** The HTTP door: a request becomes a call of an operation, and its reply the response. */
export function createApp(context: Context, realtime: Realtime): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.use(health(context))
  app.use('/chat', allowBrowsers)
  app.use(async (request, response) => {
    const reply = await answer(context, fromHttp(context, request, response))
    if (reply.opensStream) await realtime.open(response, reply.body as Listening)
    else response.status(reply.status).json(reply.body)
  })
  app.use(answerErrors(context))
  return app
}

/**
 * Lets pages of any origin talk to a chat, with credentials, as published clients in browsers do; the key in the header
 * is what counts. With credentials a wildcard is invalid, so origin and headers are those that are asked for.
 */
const allowBrowsers = cors({
  origin: true,
  credentials: true,
  methods: ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS'],
  optionsSuccessStatus: 200,
})

/** What fails outside of `answer` (a stream that cannot be opened) is answered in the same form. */
function answerErrors({ log }: Context): ErrorRequestHandler {
  return (cause, request, response, next) => {
    const error = ApiError.from(cause)
    log.error({ err: cause, errorId: error.id, method: request.method, path: request.path }, error.message)
    if (response.headersSent) next(cause)
    else response.status(error.status).type('json').json(error.toJSON())
  }
}

function fromHttp(context: Context, request: Request, response: Response) {
  return {
    method: request.method,
    path: request.path,
    query: request.query,
    body: () => readBody(request, response),
    identify: identify(context, request.headers),
  }
}

/** Longer than the proxies of the usual platforms keep an idle connection, so that they and not we close it. */
const keepAliveMilliseconds = 95_000
/** While stopping, how often to close the connections that have become idle. */
const closeIdleMilliseconds = 50

export interface RunningServer extends AsyncDisposable {
  port: number
}

/**
 * Starts to listen. Disposing ends the streams and the idle connections, waits for the requests under way, and closes.
 *
 * @throws Error naming the port when it is taken
 */
export async function startServer(context: Context): Promise<RunningServer> {
  const realtime = createRealtime(context)
  const server = createServer(createApp(context, realtime))
  server.keepAliveTimeout = keepAliveMilliseconds
  await listen(server, context.config.http)
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      realtime.close()
      // A connection whose response ends only now is kept alive otherwise, and the server open with it.
      const closeIdle = setInterval(() => server.closeIdleConnections(), closeIdleMilliseconds)
      await closed
      clearInterval(closeIdle)
    },
  }
}

async function listen(server: Server, { port, host }: Context['config']['http']): Promise<void> {
  try {
    server.listen({ port, ...(host && { host }) })
    await once(server, 'listening')
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'EADDRINUSE') throw error
    throw new Error(`Port ${port} is taken by another program: stop it, or set PORT to another number`, {
      cause: error,
    })
  }
}
