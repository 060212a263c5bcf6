/**
 * The bots of all sides, as text: a function of an input and a client. This file and `measure.ts` use no API of Node,
 * so that Deno can import both.
 */

/** The globals that a bot uses besides the language. Where they are made on demand, each has a cost. */
export const botKinds = ['plain', 'web', 'streams', 'subtle', 'buffer'] as const
export type BotKind = (typeof botKinds)[number]

/** The bot's use of its globals during a call. */
const uses: Record<BotKind, string> = {
  plain: '',
  web: `text += new URL('https://example.com/path').host + typeof fetch`,
  streams: `text += typeof new ReadableStream().getReader`,
  subtle: `text += typeof crypto.subtle.digest`,
  buffer: `text += Buffer.from(text).toString('base64')`,
}

export interface BotInput {
  [name: string]: string | boolean
  text: string
  /** Whether the bot calls the platform once. */
  asks: boolean
}

export interface BotOutput {
  /** Number of the bot's calls, which it keeps: a bot that was disposed restarts at one. */
  calls: number
  text: string
}

/** A JavaScript expression: an async function of an input and of a client with `createMessage`. */
export function botSource(kind: BotKind): string {
  return `(() => {
    let calls = 0
    return async ({ text, asks }, client) => {
      calls += 1
      ${uses[kind]}
      if (asks) await client.createMessage({ conversationId: 'conv_1', type: 'text', payload: { text } })
      return { calls, text: 'You said: ' + text }
    }
  })()`
}
