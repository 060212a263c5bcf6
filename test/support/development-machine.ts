import { createRequire } from 'node:module'
import { WebSocket } from 'ws'

/** A request of the platform, as a tunnel delivers it. */
export interface TunnelRequest {
  type: 'request'
  id: string
  method: string
  path: string
  headers: Record<string, string>
  body: string
}

type Handler = (request: Omit<TunnelRequest, 'id' | 'type'>) => Promise<{ status?: number; body?: string }>

/** The machine of an author who runs `bp dev`: a tunnel, and code that answers the requests. */
export interface DevelopmentMachine extends Disposable {
  socket: WebSocket
  /** The requests so far. */
  requests: TunnelRequest[]
  /** The code with which the platform closes the tunnel. */
  closed: Promise<{ code: number; reason: string }>
}

/** Opens a tunnel, as the published command line does. @throws Error with the status of a refusal */
export async function openDevelopmentMachine(
  tunnelUrl: string,
  id: string,
  handler: Handler,
): Promise<DevelopmentMachine> {
  const socket = new WebSocket(`${tunnelUrl.replace(/^http/, 'ws')}/${id}`, {
    headers: { 'user-agent': 'tunnel-client' },
  })
  const requests: TunnelRequest[] = []
  socket.on('message', async (data: Buffer) => {
    const request = JSON.parse(data.toString()) as TunnelRequest
    requests.push(request)
    const answer = await handler(request).catch((error: Error) => ({ status: 500, body: error.message }))
    socket.send(JSON.stringify({ type: 'response', requestId: request.id, status: 200, headers: {}, ...answer }))
  })
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() })),
  )
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  socket.on('error', () => {})
  return { socket, requests, closed, [Symbol.dispose]: () => socket.terminate() }
}

/** The `handler` of a bundle of the public SDK, in this process. */
export function loadHandler(bundle: string): Handler {
  const module = { exports: {} as { handler: Handler } }
  // oxlint-disable-next-line typescript/no-implied-eval -- The bundle is made of this repository's own tests.
  new Function('module', 'exports', 'require', bundle)(module, module.exports, createRequire(import.meta.url))
  return module.exports.handler
}
