import { keepListening, type ChatMessage } from '#shared/chat-client/keep-listening.ts'
import type { Bot } from '#shared/models/bot.ts'
import { failed, unreachable } from '../failure.ts'

/** What a conversation is listened to with. */
export interface ChatListener {
  /** The bot said something. Each message comes once. */
  heard(message: ChatMessage): void
  /** The bot is writing a message, of which this is the next part. The message comes with its `metadata.streamId`. */
  streamed?(streamId: string, delta: string): void
  /** There will be no message of what the bot was writing. */
  aborted?(streamId: string): void
  /** The connection was lost, or is there again. What was said meanwhile is heard then. */
  connected?(isConnected: boolean): void
}

/** A person's input: the text they typed, or the label of the choice they picked with its value. */
export interface Said {
  text: string
  value?: string
}

/** A new conversation of a new user with a bot, through the published client. Disposing ends listening. */
export interface ChatSession extends AsyncDisposable {
  readonly conversationId: string
  readonly userId: string
  /** @throws Failure when it is refused */
  say(said: Said): Promise<ChatMessage>
  /** Hears what the bot has said until now, also what is still on its way. */
  catchUp(): Promise<void>
}

/** Opens a conversation with a bot of the platform at `url`. */
export async function openChat(
  bot: Pick<Bot, 'name' | 'integrations'>,
  url: string,
  listener: ChatListener,
): Promise<ChatSession> {
  const { Client } = await import('@botpress/chat')
  const { client, conversationId } = await wrapErrors(url, async () => {
    const connected = await Client.connect({ apiUrl: chatUrl(bot, url), ...identity(bot) })
    return { client: connected, conversationId: (await connected.createConversation({})).conversation.id }
  })
  const listening = await wrapErrors(url, () =>
    keepListening(client, conversationId, {
      heard(message) {
        if (message.userId !== client.user.id) listener.heard(message)
      },
      // This version of the client knows no streams, and hands on what it does not know as it came.
      attach: (stream) => stream.on('unknown', (data) => hearStream(data, listener)),
      connected: (isConnected) => listener.connected?.(isConnected),
    }),
  )
  return {
    conversationId,
    userId: client.user.id,
    async say(said) {
      const { message } = await wrapErrors(url, () =>
        client.createMessage({ conversationId, payload: { type: 'text', ...said } }),
      )
      return message
    },
    catchUp: () => wrapErrors(url, () => listening.catchUp()),
    [Symbol.asyncDispose]: () => listening.close(),
  }
}

function hearStream(data: unknown, { streamed, aborted }: ChatListener): void {
  if (typeof data !== 'string' || !data.includes('message_stream_')) return
  const signal = JSON.parse(data) as { type: string; data: { streamId: string; delta: string } }
  if (signal.type === 'message_stream_delta') streamed?.(signal.data.streamId, signal.data.delta)
  if (signal.type === 'message_stream_abort') aborted?.(signal.data.streamId)
}

function chatUrl({ name, integrations }: Pick<Bot, 'name' | 'integrations'>, url: string): string {
  const { webhookId } = integrations.chat ?? {}
  if (webhookId === undefined) throw failed(`The bot ${name} has no chat: install the integration chat on it again`)
  return `${url}/chat/${webhookId}`
}

/** Where the chat has an encryption key of its own, its users are those who can sign with it. */
function identity({ integrations }: Pick<Bot, 'integrations'>): { encryptionKey?: string; userId?: string } {
  const { encryptionKey } = (integrations.chat?.configuration ?? {}) as { encryptionKey?: string }
  return encryptionKey === undefined ? {} : { encryptionKey, userId: `command-line-${Date.now()}` }
}

async function wrapErrors<T>(url: string, act: () => Promise<T>): Promise<T> {
  const { isApiError } = await import('@botpress/chat')
  try {
    return await act()
  } catch (cause) {
    // A stream that cannot be opened ends in an event of the library's own, with a status if somebody answered.
    const { message = 'it gave no reason' } = cause as { message?: string }
    if (isApiError(cause) && cause.type !== 'Unknown') throw failed(message, { cause, type: cause.type })
    throw unreachable(`The chat at ${url} cannot be reached: ${message}`, { cause, type: 'Unreachable' })
  }
}
