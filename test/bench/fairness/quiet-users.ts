import { setTimeout as sleep } from 'node:timers/promises'
import { answerQuestions } from '../asked-process.ts'
import { openConversation, type Conversation } from '../conversation.ts'
import type { QuietAnswer, QuietQuestion } from './users.ts'

/** The process of the quiet bots' chat users. */

const betweenMilliseconds = 1000

let conversations: Conversation[] = []

answerQuestions(async (question: QuietQuestion): Promise<QuietAnswer> => {
  if ('talkSeconds' in question) return { latencies: await talk(question.talkSeconds) }
  conversations = await Promise.all(question.open.map(({ chatUrl, chat }) => openConversation(chatUrl, chat)))
  return { latencies: [] }
})

/**
 * Sends a message in each conversation once per second, spread over the second, whether or not the last reply has
 * arrived.
 *
 * @returns milliseconds from sending each message to receiving the reply
 */
async function talk(seconds: number): Promise<number[]> {
  const latencies: number[] = []
  const over = AbortSignal.timeout(seconds * 1000)
  const talks = conversations.map(async (conversation, index) => {
    const talking: Promise<void>[] = []
    await sleep((betweenMilliseconds / conversations.length) * index)
    do {
      const sent = performance.now()
      talking.push(conversation.say().then(() => void latencies.push(performance.now() - sent)))
      await sleep(betweenMilliseconds, undefined, { signal: over }).catch(() => {})
    } while (!over.aborted)
    await Promise.all(talking)
  })
  await Promise.all(talks)
  return latencies
}
