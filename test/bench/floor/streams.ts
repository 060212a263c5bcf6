import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { Pool } from 'pg'
import { WebSocketServer } from 'ws'
import { poolSize } from '../system.ts'
import { environment, exitWhenAsked } from './environment.ts'
import { openPublisher, openSubscriber } from './signals.ts'

/** The listeners' floor: one row per message, one publish, and one frame to every listener. */

interface Room {
  /** Resolves when all later publishes will be received. */
  subscribed: Promise<unknown>
  listeners: Set<(body: string) => void>
}

const pool = new Pool({ connectionString: environment.databaseUrl, max: poolSize })
const publish = openPublisher(pool)
const rooms = new Map<string, Room>()
const subscribe = await openSubscriber((conversationId, body) => {
  for (const listener of rooms.get(conversationId)?.listeners ?? []) listener(body)
})

const webSockets = new WebSocketServer({ noServer: true, clientTracking: false, perMessageDeflate: false })
const server = createServer((request, response) => {
  answer(request, response).catch((error: unknown) => {
    console.error(error)
    response.destroy()
  })
})
server.on('upgrade', (request, socket, head) => {
  const room = enter(request)
  if (!room) return void socket.destroy()
  room.subscribed.then(
    () =>
      webSockets.handleUpgrade(request, socket, head, (webSocket) => {
        const listener = (body: string) => webSocket.send(body)
        room.listeners.add(listener)
        webSocket.on('error', () => {})
        webSocket.once('close', () => room.listeners.delete(listener))
      }),
    () => socket.destroy(),
  )
})
server.listen(environment.port, '127.0.0.1')

await exitWhenAsked()

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'POST') return createMessage(request, response)
  const room = enter(request)
  if (room) return listen(room, response)
  response.statusCode = request.url === '/readyz' ? 200 : 404
  response.end()
}

async function createMessage(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { conversationId, payload } = JSON.parse(await text(request)) as { conversationId: string; payload: object }
  const id = randomUUID()
  const { rows } = await pool.query<{ created_at: Date }>(
    'insert into messages (id, conversation_id, payload) values ($1, $2, $3) returning created_at',
    [id, conversationId, JSON.stringify(payload)],
  )
  const message = { id, createdAt: rows[0]!.created_at, conversationId, payload }
  await publish(conversationId, JSON.stringify({ type: 'message_created', data: { ...message, isBot: false } }))
  const body = JSON.stringify({ message })
  response.writeHead(201, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

function enter({ url = '' }: IncomingMessage): Room | undefined {
  const [, conversationId] = /^\/chat\/conversations\/([\w-]+)\/listen(?:$|\?)/.exec(url) ?? []
  if (!conversationId) return undefined
  let room = rooms.get(conversationId)
  if (!room) rooms.set(conversationId, (room = { subscribed: subscribe(conversationId), listeners: new Set() }))
  return room
}

async function listen({ subscribed, listeners }: Room, response: ServerResponse): Promise<void> {
  await subscribed
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.flushHeaders()
  const listener = (body: string) => response.write(`event: message\ndata: ${body}\n\n`)
  listeners.add(listener)
  response.once('close', () => listeners.delete(listener))
}
