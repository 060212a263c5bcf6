import { setTimeout as delay } from 'node:timers/promises'
import { answerQuestions } from './asked-process.ts'
import { openConversation, type Conversation } from './conversation.ts'
import type { LoadAnswer, LoadQuestion, Measured, Pace } from './load-process.ts'
import { openRequests } from './peers/requests.ts'
import { percentile } from './statistics.ts'

/** The process of the chat users. */

/** A reply that takes longer counts as lost. */
const drainMilliseconds = 30_000

let conversations: Pick<Conversation, 'say'>[] = []

answerQuestions(async (question: LoadQuestion): Promise<LoadAnswer> => {
  if ('measure' in question) return { measured: await measure(question.measure) }
  const { chatUrl, chats, repliesIn } = question.open
  const open = repliesIn === 'stream' ? openConversation : openRequests
  conversations = await Promise.all(chats.map(async (chat) => open(chatUrl, chat)))
  return { opened: true }
})

/**
 * Keeps `inFlight` messages in flight, each in a conversation of its own: the next is sent when the reply to the
 * previous one arrives. Resolves when every reply has arrived.
 */
async function measure({ inFlight, warmUpSeconds, seconds }: Pace): Promise<Measured> {
  const begin = performance.now() + warmUpSeconds * 1000
  const end = begin + seconds * 1000
  const latencies: number[] = []
  let messages = 0

  async function talk(own: Pick<Conversation, 'say'>[]): Promise<void> {
    for (let turn = 0; ; turn++) {
      const sent = performance.now()
      if (sent >= end) return
      await own[turn % own.length]!.say()
      const heard = performance.now()
      messages++
      if (heard >= begin && heard < end) latencies.push(heard - sent)
    }
  }

  const speakers = Array.from({ length: Math.min(inFlight, conversations.length) }, (_, first) =>
    talk(conversations.filter((_conversation, index) => index % inFlight === first)),
  )
  const overdue = new AbortController()
  await Promise.race([Promise.all(speakers), lateness((warmUpSeconds + seconds) * 1000, overdue.signal)])
  overdue.abort()

  latencies.sort((a, b) => a - b)
  return {
    messages,
    rate: latencies.length / seconds,
    p50: percentile(latencies, 50),
    p99: percentile(latencies, 99),
  }
}

async function lateness(milliseconds: number, signal: AbortSignal): Promise<void> {
  await delay(milliseconds + drainMilliseconds, undefined, { signal }).catch(() => {})
  if (!signal.aborted) throw new Error(`A reply did not come within ${drainMilliseconds / 1000} s`)
}
