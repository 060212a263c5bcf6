import { SignJWT } from 'jose'
import { connectToChat } from '#shared/chat-client/chat-client.ts'
import { ChatError } from '#shared/chat-client/chat-error.ts'
import type { ChatMessage, ChatSignal } from '#shared/chat-client/chat-stream.ts'
import { keepListening } from '#shared/chat-client/keep-listening.ts'
import type { Bot } from '#shared/models/bot.ts'
import { failed, unreachable } from '../failure.ts'

/** Callbacks for the entries of a conversation. */
export interface ChatListener {
  /** Receives each message of the bot once. */
  received(message: ChatMessage): void
  /** Receives the next part of a message that the bot is streaming. The message has this id as `metadata.streamId`. */
  streamed?(streamId: string, delta: string): void
  /** Called when the bot has aborted a streamed message: no message follows. */
  aborted?(streamId: string): void
  /** Called when the connection is lost or restored. Messages sent in between are received after the reconnection. */
  connected?(isConnected: boolean): void
}

/** A person's input: the text they typed, or the label of the choice they picked with its value. */
export interface Said {
  text: string
  value?: string
}

/** A new conversation of a new user with a bot, over the Chat API. Disposing closes the stream. */
export interface ChatSession extends Disposable {
  readonly conversationId: string
  readonly userId: string
  /** @throws Failure when the platform refuses the message */
  say(said: Said): Promise<ChatMessage>
  /** Receives all messages that the bot has sent so far, those in transit included. */
  catchUp(): Promise<void>
}

/** Opens a conversation with a bot of the platform at `url`. */
export async function openChat(
  bot: Pick<Bot, 'name' | 'integrations'>,
  url: string,
  listener: ChatListener,
): Promise<ChatSession> {
  const { client, conversationId } = await wrapErrors(url, async () => {
    const connected = await connectToChat(chatUrl(bot, url), await signUserKey(bot))
    return { client: connected, conversationId: (await connected.createConversation()).id }
  })
  const listening = await wrapErrors(url, () =>
    keepListening(client, conversationId, {
      received(message) {
        if (message.userId !== client.user.id) listener.received(message)
      },
      signalled: (signal) => receiveStream(signal, listener),
      connected: (isConnected) => listener.connected?.(isConnected),
    }),
  )
  return {
    conversationId,
    userId: client.user.id,
    say: (said) => wrapErrors(url, () => client.createMessage(conversationId, { type: 'text', ...said })),
    catchUp: () => wrapErrors(url, () => listening.catchUp()),
    [Symbol.dispose]: () => listening.close(),
  }
}

function receiveStream(signal: ChatSignal, { streamed, aborted }: ChatListener): void {
  if (signal.type === 'message_stream_delta') streamed?.(signal.data.streamId, signal.data.delta)
  if (signal.type === 'message_stream_abort') aborted?.(signal.data.streamId)
}

function chatUrl({ name, integrations }: Pick<Bot, 'name' | 'integrations'>, url: string): string {
  const { webhookId } = integrations.chat ?? {}
  if (webhookId === undefined) throw failed(`The bot ${name} has no chat: install the integration chat on it again`)
  return `${url}/chat/${webhookId}`
}

/** Where the chat has its own encryption key, a user is identified by a key that is signed with it. */
async function signUserKey({ integrations }: Pick<Bot, 'integrations'>): Promise<string | undefined> {
  const { encryptionKey } = (integrations.chat?.configuration ?? {}) as { encryptionKey?: string }
  if (encryptionKey === undefined) return undefined
  const token = new SignJWT({ id: `command-line-${Date.now()}` }).setProtectedHeader({ alg: 'HS256' })
  return token.sign(new TextEncoder().encode(encryptionKey))
}

async function wrapErrors<T>(url: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (cause) {
    if (cause instanceof ChatError) throw failed(cause.message, { cause, type: cause.type })
    const { message } = cause as Error
    throw unreachable(`The chat at ${url} cannot be reached: ${message}`, { cause, type: 'Unreachable' })
  }
}
