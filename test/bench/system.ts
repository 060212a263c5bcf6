import type { BackEnd } from './back-ends.ts'
import type { Servers } from './servers.ts'

/** One of the sides: processes that reply to a chat user's message over HTTP. */
export interface System {
  /** The chat's URL; all sides with streams serve the same few paths below it. */
  chatUrl: string
  chats: Chat[]
  /** The way of a reply: an event of the conversation's stream, or the response to the request with the message. */
  repliesIn: 'stream' | 'response'
  /** Absent if it does not use the common PostgreSQL. */
  databaseUrl?: string
  /** Process ids by role. */
  processes: { api: number; worker: number }
  /** Stops or continues the processes of a side that works without messages too. */
  pause?: (paused: boolean) => void
}

/** One of the two sides of the listeners' benchmark: a process that holds streams. */
export interface StreamServer {
  chatUrl: string
  chats: Chat[]
  pid: number
}

/** A conversation of one user. */
export interface Chat {
  conversationId: string
  /** The user's key, which the floor ignores. */
  key: string
}

/** The parameters of a side's start. */
export interface SystemOptions {
  servers: Servers
  backEnd: BackEnd
  conversations: number
  /** Node options of its processes. */
  nodeOptions: string[]
  parts: AsyncDisposableStack
}

/** Mailboxes, or bare jobs, that a worker handles concurrently. */
export const workerConcurrency = 100
/** Listeners of each conversation in the listeners' benchmark. */
export const listenersPerConversation = 100
/** Connections to PostgreSQL of a process for its own statements. */
export const poolSize = 10
/** Connections of a worker for its queue, where that is in PostgreSQL. */
export const queuePoolSize = 5

/** Memory of a small machine. */
export const smallMachineMegabytes = 512
/** The heap that Node chooses in a container with this much memory. Where there is more, garbage is kept for longer. */
export const smallMachineHeap = [`--max-old-space-size=${smallMachineMegabytes / 2}`, '--max-semi-space-size=1']

/** Waits until a process reports that it is ready. */
export async function untilReady(url: string): Promise<void> {
  await untilOk(`${url}/readyz`)
}

/** Waits until a GET request of this URL succeeds. */
export async function untilOk(url: string): Promise<void> {
  const deadline = Date.now() + 30_000
  while (Date.now() < deadline) {
    const response = await fetch(url).catch(() => undefined)
    if (response?.ok) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`Nothing is ready at ${url}`)
}
