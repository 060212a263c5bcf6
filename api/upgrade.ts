import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { dispatch, toReply, type Reply } from '#shared/dispatch.ts'
import type { Context } from '#shared/context.ts'
import { ApiError } from '#shared/errors.ts'
import { refuseConnection } from '#shared/protocol-errors.ts'
import { identify } from './authenticate.ts'
import { clientAddress } from './client-address.ts'
import { withKeyOfQuery } from './key-in-query.ts'
import type { Overload } from './overload.ts'
import type { RateLimiter } from './rate-limit.ts'
import type { Listening, Realtime } from './realtime/realtime.ts'
import type { Connection } from './realtime/connection.ts'
import { openWebSocketStream } from './realtime/web-socket.ts'
import { wantsTunnel, type Tunnels } from './tunnels/tunnels.ts'
import { withLogFieldsOf, requestIdHeader, scopeUpgrade } from './request-scope.ts'

/** Clients send no messages over a stream. */
const largestFrameBytes = 1024

interface UpgradeParts {
  context: Context
  realtime: Realtime
  rateLimiter: RateLimiter
  overload: Overload
  tunnels: Tunnels
}

/** Whether a request asks for a WebSocket. Other upgrades (HTTP/2, for one) may be ignored, so they are. */
export function wantsWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket'
}

/**
 * The WebSocket entry point: the operation that opens a stream over HTTP also opens it here, at the same address.
 * Refusals are sent before the upgrade.
 */
export function acceptUpgrades(server: Server, parts: UpgradeParts): void {
  const { context, realtime } = parts
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: largestFrameBytes,
    // A compressor for each stream costs more memory than the stream.
    perMessageDeflate: false,
  })
  sockets.on('wsClientError', ({ message }, socket) => {
    const error = new ApiError('InvalidPayload', `This request cannot open a WebSocket: ${message}`)
    refuseConnection(socket, { ...toReply(error), headers: { 'Sec-WebSocket-Version': '13' } })
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
    scopeUpgrade(request, (requestId) => {
      socket.on('error', (error) => context.log.debug({ err: error }, 'Connection failed'))
      const accept = () =>
        new Promise<Connection | undefined>((resolve) => {
          socket.once('close', () => resolve(undefined))
          sockets.handleUpgrade(request, socket, head, (webSocket) => resolve(openWebSocketStream(webSocket)))
        })
      const answerOrOpen = async () => {
        if (wantsTunnel(request)) {
          const refusal = await openTunnel(parts, request, socket, head)
          if (refusal) refuseConnection(socket, refusal)
          return
        }
        const reply = await answerUpgrade(parts, request)
        const refusal = reply.opensStream ? await openStream(realtime, reply, accept) : reply
        if (!refusal) return
        refuseConnection(socket, { ...refusal, headers: { ...refusal.headers, [requestIdHeader]: requestId } })
      }
      answerOrOpen().catch((error: unknown) => {
        context.log.error({ err: error }, 'Opening a stream failed')
        socket.destroy()
      })
    }),
  )
}

/** Opens a tunnel. @returns the refusal, if any */
async function openTunnel(
  { overload, tunnels }: UpgradeParts,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): Promise<Reply | undefined> {
  try {
    using _ = overload.enter(request)
    await tunnels.accept(request, socket, head)
    return undefined
  } catch (cause) {
    return toReply(ApiError.from(cause))
  }
}

/** Opens a stream. @returns the refusal when the listener has lost its rights since the request was authenticated */
async function openStream(
  realtime: Realtime,
  { body }: Reply,
  accept: () => Promise<Connection | undefined>,
): Promise<Reply | undefined> {
  try {
    await realtime.open(body as Listening, accept)
    return undefined
  } catch (error) {
    if (error instanceof ApiError) return toReply(error)
    throw error
  }
}

async function answerUpgrade(parts: UpgradeParts, request: IncomingMessage): Promise<Reply> {
  try {
    using _ = parts.overload.enter(request)
    return await answerStream(parts, request)
  } catch (cause) {
    return toReply(ApiError.from(cause))
  }
}

async function answerStream({ context, rateLimiter }: UpgradeParts, request: IncomingMessage): Promise<Reply> {
  const { method = '', url = '', headers } = request
  const [path = '', ...search] = url.split('?')
  const query = new URLSearchParams(search.join('?'))
  const credentials = withKeyOfQuery(headers, query.get('x-user-key'))
  const ask = withLogFieldsOf(identify(context, credentials))
  return dispatch(context, {
    method,
    path,
    query: Object.fromEntries(query),
    body: async () => ({}),
    async identify(operation, parameters) {
      if (!operation.opensStream) {
        throw new ApiError('InvalidPayload', `${path} does not support WebSocket: omit the header Upgrade`)
      }
      const address = operation.path.startsWith('/webchat/') ? clientAddress(request) : undefined
      const { refusal } = await rateLimiter.consume(
        parameters['webhookId'] ?? '',
        credentials['x-user-key']?.toString(),
        address,
      )
      if (refusal) throw refusal
      return ask(operation, parameters)
    },
  })
}
