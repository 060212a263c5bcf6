import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { answerQuestions } from '../asked-process.ts'
import { openConversation, type Conversation } from '../conversation.ts'
import type { Chat } from '../system.ts'
import type { FairnessAnswer, FairnessQuestion, Users } from './users.ts'

/** The process that plays the chat users of quiet bots, and those who flood another. */

const betweenMilliseconds = 1000
/** Connections on which the flood comes. */
const floodAtOnce = 10

const agent = new Agent({ keepAlive: true, maxSockets: floodAtOnce })
let quiet: Conversation[] = []
let flooded: Users | undefined

answerQuestions(async (question: FairnessQuestion): Promise<FairnessAnswer> => {
  if ('open' in question) {
    quiet = await Promise.all(question.open.quiet.map(({ chatUrl, chat }) => openConversation(chatUrl, chat)))
    flooded = question.open.flooded
    return { latencies: [] }
  }
  if ('flood' in question) return { latencies: await talkDuring(flood(question.flood, question.talkSeconds)) }
  return { latencies: await talkDuring(sleep(question.talkSeconds * 1000)) }
})

/**
 * Says something to each quiet bot once a second, spread over the second, whether the reply to the last message has
 * come or not, until something is over.
 *
 * @returns milliseconds from sending a message to hearing the reply
 */
async function talkDuring(something: Promise<unknown>): Promise<number[]> {
  const latencies: number[] = []
  const over = new AbortController()
  const talks = quiet.map(async (conversation, index) => {
    const talking: Promise<void>[] = []
    await sleep((betweenMilliseconds / quiet.length) * index)
    do {
      const sent = performance.now()
      talking.push(conversation.say().then(() => void latencies.push(performance.now() - sent)))
      await sleep(betweenMilliseconds, undefined, { signal: over.signal }).catch(() => {})
    } while (!over.signal.aborted)
    await Promise.all(talking)
  })
  await something
  over.abort()
  await Promise.all(talks)
  return latencies
}

/** Sends so many messages in so many seconds, or as fast as they are taken. */
async function flood(messages: number, seconds: number): Promise<void> {
  if (!flooded) throw new Error('Nobody is there to flood a bot')
  const { chatUrl, chats } = flooded
  const begin = performance.now()
  let sent = 0
  await Promise.all(
    Array.from({ length: floodAtOnce }, async () => {
      while (sent < messages) {
        const number = sent++
        const wait = begin + (number / messages) * seconds * 1000 - performance.now()
        if (wait > 0) await sleep(wait)
        await post(chatUrl, chats[number % chats.length]!)
      }
    }),
  )
}

async function post(chatUrl: string, { conversationId, key }: Chat): Promise<void> {
  const posting = request(`${chatUrl}/messages`, {
    method: 'POST',
    agent,
    headers: { 'content-type': 'application/json', 'x-user-key': key },
  })
  posting.end(JSON.stringify({ conversationId, payload: { type: 'text', text: 'flood' } }))
  const [response] = (await once(posting, 'response')) as [IncomingMessage]
  if (response.statusCode !== 201) throw new Error(`A message was answered with ${response.statusCode}`)
  response.resume()
  await once(response, 'end')
}
