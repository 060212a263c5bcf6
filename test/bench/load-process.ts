import { startAskedProcess } from './asked-process.ts'
import type { System } from './system.ts'

/** The chat users' concurrency and its duration. */
export interface Pace {
  /** Concurrent messages in flight. */
  inFlight: number
  warmUpSeconds: number
  seconds: number
}

export interface Measured {
  /** All messages, including those of the warm-up and the end. */
  messages: number
  /** Replies received per second, without warm-up and end. */
  rate: number
  /** Milliseconds from sending a message to receiving the reply. */
  p50: number
  p99: number
}

export type LoadQuestion = { open: Pick<System, 'chatUrl' | 'chats' | 'repliesIn'> } | { measure: Pace }
export type LoadAnswer = { opened: true } | { measured: Measured }

/**
 * The chat users of one side: a process of their own, so that they slow down neither a side nor the other side's users.
 */
export interface Load {
  pid: number
  measure(pace: Pace): Promise<Measured>
}

/** Starts the chat users of a side and opens their streams. */
export async function startLoad(
  system: Pick<System, 'chatUrl' | 'chats' | 'repliesIn'>,
  parts: AsyncDisposableStack,
): Promise<Load> {
  const script = new URL('./load.ts', import.meta.url)
  const { pid, ask } = startAskedProcess<LoadQuestion, LoadAnswer>('the chat users', script, parts)
  const { chatUrl, chats, repliesIn } = system
  await ask({ open: { chatUrl, chats, repliesIn } })
  return {
    pid,
    async measure(pace) {
      const answer = await ask({ measure: pace })
      if (!('measured' in answer)) throw new Error('The chat users answered something else')
      return answer.measured
    },
  }
}
