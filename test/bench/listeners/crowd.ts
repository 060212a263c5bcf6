import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { json } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { answerQuestions } from '../asked-process.ts'
import type { Chat, StreamServer } from '../system.ts'
import type { CrowdAnswer, CrowdQuestion, Heard } from './crowd-process.ts'
import { openStream, type Protocol } from './stream.ts'

/** The process of the listeners and of the sender of their messages, which therefore share one clock. */

/** Concurrent handshakes. */
const openings = 100
/** A message that takes longer counts as lost. */
const lateMilliseconds = 30_000

interface Room {
  chat: Chat
  streams: Socket[]
  /** The message in flight. */
  awaited?: Awaited
}

interface Awaited {
  text: string
  firstAt?: number
  /** Streams that have not received it. */
  missing: number
  allReceived: () => void
}

let chatUrl = ''
let rooms: Room[] = []
let count = 0
const speaker = new Agent({ keepAlive: true, maxSockets: 1 })

answerQuestions(async (question: CrowdQuestion): Promise<CrowdAnswer> => {
  if ('open' in question) return { opened: { seconds: await open(question.open) } }
  if ('say' in question) return { said: await sendInTurn(question.say.messages) }
  for (const room of rooms) for (const stream of room.streams) stream.destroy()
  rooms = []
  return { closed: true }
})

interface AllowedNetwork {
  protocol: Protocol
  server: StreamServer
  perConversation: number
}

async function open({ protocol, server, perConversation }: AllowedNetwork): Promise<number> {
  chatUrl = server.chatUrl
  rooms = server.chats.map((chat) => ({ chat, streams: [] }))
  const waiting = Array.from({ length: perConversation }, () => rooms).flat()
  const startedAt = performance.now()
  await Promise.all(
    Array.from({ length: openings }, async () => {
      for (let room = waiting.pop(); room; room = waiting.pop()) room.streams.push(await listen(protocol, room))
    }),
  )
  return (performance.now() - startedAt) / 1000
}

async function listen(protocol: Protocol, room: Room): Promise<Socket> {
  let unread = ''
  return openStream(protocol, chatUrl, room.chat, (piece) => {
    const { awaited } = room
    unread += piece
    if (!awaited || !unread.includes(awaited.text)) return
    unread = ''
    awaited.firstAt ??= now()
    awaited.missing -= 1
    if (awaited.missing === 0) awaited.allReceived()
  })
}

async function sendInTurn(messages: number): Promise<Heard[]> {
  const heard = []
  while (heard.length < messages) heard.push(await say(rooms[heard.length % rooms.length]!))
  return heard
}

/** Sends a message to a room. Resolves when all its streams have received it, and the server has answered. */
async function say(room: Room): Promise<Heard> {
  const text = `This is message ${count++} to the listeners`
  const allReceived = Promise.withResolvers<number>()
  const awaited: Awaited = { text, missing: room.streams.length, allReceived: () => allReceived.resolve(now()) }
  room.awaited = awaited
  const late = new AbortController()
  try {
    const all = Promise.all([post(room.chat, text), allReceived.promise])
    const [storedAt, lastAt] = await Promise.race([all, lateness(awaited, late.signal)])
    return { storedAt, firstAt: awaited.firstAt!, lastAt }
  } finally {
    late.abort()
    delete room.awaited
  }
}

/** Posts a message and returns the time at which it was stored. */
async function post({ conversationId, key }: Chat, text: string): Promise<number> {
  const body = JSON.stringify({ conversationId, payload: { type: 'text', text } })
  const posting = request(`${chatUrl}/messages`, {
    method: 'POST',
    agent: speaker,
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), 'x-user-key': key },
  })
  posting.end(body)
  const [response] = (await once(posting, 'response')) as [IncomingMessage]
  if (response.statusCode !== 201) throw new Error(`A message was answered with ${response.statusCode}`)
  const { message } = (await json(response)) as { message: { createdAt: string } }
  return Date.parse(message.createdAt)
}

async function lateness(awaited: Awaited, signal: AbortSignal): Promise<never> {
  await delay(lateMilliseconds, undefined, { signal })
  throw new Error(`A message did not reach ${awaited.missing} listeners within ${lateMilliseconds / 1000} s`)
}

/** Milliseconds since 1970, with fractions. */
function now(): number {
  return performance.timeOrigin + performance.now()
}
