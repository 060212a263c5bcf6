import { startAskedProcess } from '../asked-process.ts'
import type { StreamServer } from '../system.ts'
import type { Protocol } from './stream.ts'

export type CrowdQuestion =
  | { open: { protocol: Protocol; server: StreamServer; perConversation: number } }
  | { say: { messages: number } }
  | { close: true }
export type CrowdAnswer = { opened: { seconds: number } } | { said: Heard[] } | { closed: true }

/** The arrival of a message at the listeners of its conversation, in milliseconds since 1970. */
export interface Heard {
  /** By the database's clock, as in the message's `createdAt`. */
  storedAt: number
  firstAt: number
  lastAt: number
}

/** The listeners of one side, in a process of their own. */
export interface Crowd {
  /** Opens streams, in turn in each conversation; returns the duration in seconds. */
  open(protocol: Protocol, server: StreamServer, perConversation: number): Promise<number>
  /** Sends `messages` messages, one at a time and in one conversation after another; waits for each on every stream. */
  say(messages: number): Promise<Heard[]>
  /** Closes all streams. */
  close(): Promise<void>
}

export function startCrowd(parts: AsyncDisposableStack): Crowd {
  const script = new URL('./crowd.ts', import.meta.url)
  const { ask } = startAskedProcess<CrowdQuestion, CrowdAnswer>('the listeners', script, parts)
  return {
    async open(protocol, server, perConversation) {
      const answer = await ask({ open: { protocol, server, perConversation } })
      if (!('opened' in answer)) throw new Error('The listeners answered something else')
      return answer.opened.seconds
    },
    async say(messages) {
      const answer = await ask({ say: { messages } })
      if (!('said' in answer)) throw new Error('The listeners answered something else')
      return answer.said
    },
    async close() {
      await ask({ close: true })
    },
  }
}
