import { setTimeout as pause } from 'node:timers/promises'
import type { Chances } from './random.ts'

/** A conversation, and its acknowledged messages. */
export interface Talk {
  conversationId: string
  key: string
  /** The acknowledged texts, in order. The bot must have handled exactly these. */
  acknowledged: string[]
}

export interface Counts {
  acknowledged: number
  /** Other answers by status; 0 for no answer. A retry followed each. */
  refusals: Map<number, number>
  /** Acknowledged messages that an earlier request had stored. */
  replayed: number
}

export interface Speakers {
  /** URLs of the api processes, without the path of the bot's chat. */
  apiUrls: string[]
  chatPath: string
  chances: Chances
  /** Milliseconds between two messages of a conversation, on average. */
  pauseMilliseconds: number
  /** Whether to stop. Called before each message. */
  isOver(): boolean
}

const answerMilliseconds = 10_000
const retryMilliseconds = 200
/** Statuses after which a client may retry; other errors mean that the request itself is wrong. */
export const mayPass = new Set([0, 408, 409, 429, 500, 502, 503, 504])

/**
 * Sends messages in a conversation, one at a time. A message that is not acknowledged is sent again with the same
 * Idempotency-Key, to any process, until it is.
 *
 * @throws Error when a message is refused for good
 */
export async function talk({ conversationId, key, acknowledged }: Talk, speakers: Speakers, counts: Counts) {
  const { chances, pauseMilliseconds } = speakers
  await pause(chances.between(0, pauseMilliseconds))
  while (!speakers.isOver()) {
    const text = `text ${acknowledged.length + 1}`
    const body = JSON.stringify({ conversationId, payload: { type: 'text', text } })
    const headers = {
      'content-type': 'application/json',
      'x-user-key': key,
      'idempotency-key': `${conversationId}-${acknowledged.length + 1}`,
    }
    counts.replayed += await untilAcknowledged(speakers, counts, { headers, body })
    acknowledged.push(text)
    counts.acknowledged++
    await pause(chances.between(0, 2 * pauseMilliseconds))
  }
}

/** @returns 1 when an earlier request had stored the message, else 0 */
async function untilAcknowledged(
  { apiUrls, chatPath, chances }: Speakers,
  { refusals }: Counts,
  request: { headers: Record<string, string>; body: string },
): Promise<number> {
  for (;;) {
    const response = await post(`${chances.pick(apiUrls)}${chatPath}/messages`, request)
    if (response.status === 201) return response.isReplayed ? 1 : 0
    refusals.set(response.status, (refusals.get(response.status) ?? 0) + 1)
    if (!mayPass.has(response.status))
      throw new Error(`A message was refused with ${response.status}: ${response.text}`)
    await pause(chances.between(0, 2 * retryMilliseconds))
  }
}

async function post(url: string, request: { headers: Record<string, string>; body: string }) {
  try {
    const response = await fetch(url, { method: 'POST', ...request, signal: AbortSignal.timeout(answerMilliseconds) })
    const text = await response.text()
    return { status: response.status, text, isReplayed: response.headers.has('idempotent-replayed') }
  } catch {
    return { status: 0, text: '', isReplayed: false }
  }
}
