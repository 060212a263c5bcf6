import { fork } from 'node:child_process'
import { once } from 'node:events'
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

export type LoadRequest = { open: { chatUrl: string; chats: Chat[] } } | { measure: Pace }
export type LoadReply = { opened: true } | { measured: Measured } | { error: string }

/** The chat users of one side: a process of their own, so that neither side nor the other's users slow them down. */
export interface Load {
  pid: number
  measure(pace: Pace): Promise<Measured>
}

/** Starts the chat users of a side and opens their streams. */
export async function startLoad(system: System, parts: AsyncDisposableStack): Promise<Load> {
  const child = fork(new URL('./load.ts', import.meta.url))
  parts.defer(async () => {
    const exited = once(child, 'exit')
    if (child.connected) child.disconnect()
    if (child.exitCode === null && child.signalCode === null) await exited
  })

  async function ask(request: LoadRequest): Promise<LoadReply> {
    const answered = new AbortController()
    const ended = once(child, 'exit', answered).then(() => {
      throw new Error('The process of the chat users ended')
    })
    try {
      child.send(request)
      const [reply] = (await Promise.race([once(child, 'message', answered), ended])) as [LoadReply]
      if ('error' in reply) throw new Error(`The chat users gave up: ${reply.error}`)
      return reply
    } finally {
      answered.abort()
    }
  }

  await ask({ open: { chatUrl: system.chatUrl, chats: system.chats } })
  return {
    pid: child.pid!,
    async measure(pace) {
      const reply = await ask({ measure: pace })
      if (!('measured' in reply)) throw new Error('The chat users answered something else')
      return reply.measured
    },
  }
}
