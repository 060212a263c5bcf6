import { startAskedProcess } from '../asked-process.ts'
import type { Chat } from '../system.ts'

/** A bot's chat URL, and its users' conversations. */
export interface Users {
  chatUrl: string
  chats: Chat[]
}

export type QuietQuestion = { open: { chatUrl: string; chat: Chat }[] } | { talkSeconds: number }

export interface QuietAnswer {
  /** Latency of each message to a quiet bot, in milliseconds. */
  latencies: number[]
}

export interface FloodQuestion {
  bot: Users
  messages: number
  seconds: number
}

export interface FloodAnswer {
  sent: number
}

/** The chat users of quiet bots, in one process. */
export interface QuietLoad {
  /** Sends each bot a message per second, and returns the latencies in milliseconds. */
  talk(seconds: number): Promise<number[]>
}

/** The chat users of quiet bots and of the flooded bot, in one process each. */
export interface FairnessLoad extends QuietLoad {
  /** Also sends `messages` messages to the other bot meanwhile, which may take longer. */
  talkAndFlood(seconds: number, messages: number): Promise<number[]>
}

/** Starts the chat users of quiet bots and opens their streams. */
export async function startQuietUsers(quiet: Users[], parts: AsyncDisposableStack): Promise<QuietLoad> {
  const script = new URL('./quiet-users.ts', import.meta.url)
  const { ask } = startAskedProcess<QuietQuestion, QuietAnswer>('the chat users', script, parts)
  await ask({ open: quiet.flatMap(({ chatUrl, chats }) => chats.map((chat) => ({ chatUrl, chat }))) })
  return { talk: async (seconds) => (await ask({ talkSeconds: seconds })).latencies }
}

export async function startFairnessLoad(
  quiet: Users[],
  flooded: Users,
  parts: AsyncDisposableStack,
): Promise<FairnessLoad> {
  const { talk } = await startQuietUsers(quiet, parts)
  const floodingUsers = new URL('./flooding-users.ts', import.meta.url)
  const { ask: flood } = startAskedProcess<FloodQuestion, FloodAnswer>('the flooding users', floodingUsers, parts)
  return {
    talk,
    async talkAndFlood(seconds, messages) {
      const [latencies] = await Promise.all([talk(seconds), flood({ bot: flooded, messages, seconds })])
      return latencies
    },
  }
}
