import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { answerQuestions } from '../asked-process.ts'
import type { Chat } from '../system.ts'
import type { FloodAnswer, FloodQuestion } from './users.ts'

/** The process of the chat users who flood a bot; separate, so that its work delays no measurement. */

/** Connections of the flood. */
const atOnce = 10

const agent = new Agent({ keepAlive: true, maxSockets: atOnce })

answerQuestions(async (question: FloodQuestion): Promise<FloodAnswer> => {
  await flood(question)
  return { sent: question.messages }
})

/** Sends `messages` messages within `seconds` seconds, or as fast as they are accepted. */
async function flood({ messages, seconds, bot: { chatUrl, chats } }: FloodQuestion): Promise<void> {
  const begin = performance.now()
  let sent = 0
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
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
