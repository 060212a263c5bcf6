import { startAskedProcess } from '../asked-process.ts'
import type { Chat } from '../system.ts'

/** A bot's address, and who talks to it. */
export interface Users {
  chatUrl: string
  chats: Chat[]
}

export type FairnessQuestion =
  | { open: { quiet: { chatUrl: string; chat: Chat }[]; flooded: Users } }
  | { talkSeconds: number }
  | { talkSeconds: number; flood: number }

export interface FairnessAnswer {
  /** Milliseconds, of each message to a quiet bot. */
  latencies: number[]
}

/** The chat users of both kinds of bots, in a process of their own. They talk to the quiet bots as long as anything is asked. */
export interface FairnessLoad {
  /** Nothing but that, for so long. */
  talk(seconds: number): Promise<number[]>
  /** And meanwhile send so many messages to the other bot, which may take longer. */
  talkAndFlood(seconds: number, messages: number): Promise<number[]>
}

export async function startFairnessLoad(
  quiet: Users[],
  flooded: Users,
  parts: AsyncDisposableStack,
): Promise<FairnessLoad> {
  const script = new URL('./load.ts', import.meta.url)
  const { ask } = startAskedProcess<FairnessQuestion, FairnessAnswer>('the chat users', script, parts)
  await ask({
    open: { quiet: quiet.flatMap(({ chatUrl, chats }) => chats.map((chat) => ({ chatUrl, chat }))), flooded },
  })
  return {
    talk: async (seconds) => (await ask({ talkSeconds: seconds })).latencies,
    talkAndFlood: async (seconds, messages) => (await ask({ talkSeconds: seconds, flood: messages })).latencies,
  }
}
