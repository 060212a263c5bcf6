import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { Pool } from 'pg'
import { poolSize } from '../system.ts'
import { environment, exitWhenAsked } from './environment.ts'
import { openFloorQueue } from './queue.ts'
import { openSubscriber } from './signals.ts'

/** The floor's HTTP process: one row and one job for each message, and the streams. */

const pool = new Pool({ connectionString: environment.databaseUrl, max: poolSize })
const enqueue = openFloorQueue()
const streams = new Map<string, ServerResponse>()
const subscribe = await openSubscriber((conversationId, body) => {
  streams.get(conversationId)?.write(`event: message\ndata: ${body}\n\n`)
})

createServer((request, response) => {
  answer(request, response).catch((error: unknown) => {
    console.error(error)
    response.destroy()
  })
}).listen(environment.port, '127.0.0.1')

await exitWhenAsked()

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url = '' } = request
  if (method === 'POST' && url === '/chat/messages') return createMessage(request, response)
  const [, conversationId] = /^\/chat\/conversations\/([\w-]+)\/listen$/.exec(url) ?? []
  if (conversationId) return listen(conversationId, response)
  response.statusCode = url === '/readyz' ? 200 : 404
  response.end()
}

async function createMessage(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { conversationId, payload } = JSON.parse(await text(request)) as {
    conversationId: string
    payload: { type: 'text'; text: string }
  }
  const id = randomUUID()
  await pool.query('insert into messages (id, conversation_id, payload) values ($1, $2, $3)', [
    id,
    conversationId,
    JSON.stringify(payload),
  ])
  await enqueue({ conversationId, text: payload.text })
  const body = JSON.stringify({ message: { id, conversationId, payload } })
  response.writeHead(201, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

async function listen(conversationId: string, response: ServerResponse): Promise<void> {
  streams.set(conversationId, response)
  await subscribe(conversationId)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.flushHeaders()
}
