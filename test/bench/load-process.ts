import { startAskedProcess } from './asked-process.ts'
import type { Chat, System } from './system.ts'

/** How hard the chat users talk, and for how long. */
export interface Pace {
  /** Messages under way at any moment. */
  inFlight: number
  warmUpSeconds: number
  seconds: number
}

export interface Measured {
  /** All messages, those of the warm-up and the end included. */
  messages: number
  /** Replies heard per second, without warm-up and end. */
  rate: number
  /** Milliseconds from sending a message to hearing the reply. */
  p50: number
  p99: number
}

export type LoadQuestion = { open: { chatUrl: string; chats: Chat[] } } | { measure: Pace }
export type LoadAnswer = { opened: true } | { measured: Measured }

/** The chat users of one side: a process of their own, so that neither side nor the other's users slow them down. */
export interface Load {
  pid: number
  measure(pace: Pace): Promise<Measured>
}

/** Starts the chat users of a side and opens their streams. */
export async function startLoad(system: System, parts: AsyncDisposableStack): Promise<Load> {
  const script = new URL('./load.ts', import.meta.url)
  const { pid, ask } = startAskedProcess<LoadQuestion, LoadAnswer>('the chat users', script, parts)
  await ask({ open: { chatUrl: system.chatUrl, chats: system.chats } })
  return {
    pid,
    async measure(pace) {
      const answer = await ask({ measure: pace })
      if (!('measured' in answer)) throw new Error('The chat users answered something else')
      return answer.measured
    },
  }
}
