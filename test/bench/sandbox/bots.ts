/**
 * The bots that all sides run, as text: a function of an input and a client. Nothing in this file and in `measure.ts` is
 * Node's, so that Deno can import both.
 */

/** What a bot finds among its globals, beside the language. Where they are made on demand, each costs something. */
export const botKinds = ['plain', 'web', 'streams', 'subtle', 'buffer'] as const
export type BotKind = (typeof botKinds)[number]

/** What a bot does with its globals when it is called. */
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
  /** How often this bot was called, which it remembers: one that was thrown away begins again at one. */
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
