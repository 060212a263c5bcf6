import type { ChatClient } from './chat-client.ts'
import type { ChatMessage, ChatSignal, ChatStream } from './chat-stream.ts'

/** What a conversation is listened to with. */
export interface ConversationListener {
  /** A message of anybody, what was said before included: each once, in order. */
  heard(message: ChatMessage): void
  /** A signal that is no new message. Those that come while the connection is lost are not repeated. */
  receive?(signal: ChatSignal): void
  /** The connection was lost, or is there again. What was said meanwhile was heard then. */
  connected(isConnected: boolean): void
}

/** A conversation that is being listened to. */
export interface Listening {
  /** Hears what was said until now, also what is still on its way. */
  catchUp(): Promise<void>
  close(): void
}

const reconnectMilliseconds = 500

/**
 * Listens to a conversation until it is closed, in Node and in browsers. When the stream ends, it opens another one and
 * reads the messages that were created meanwhile.
 *
 * @throws Error when it cannot be listened to at the beginning
 */
export async function keepListening(
  client: ChatClient,
  conversationId: string,
  { heard, receive, connected }: ConversationListener,
): Promise<Listening> {
  const known = new Set<string>()
  const closed = new AbortController()
  let stream = await open()

  function hear(message: ChatMessage): void {
    if (known.has(message.id)) return
    known.add(message.id)
    heard(message)
  }

  /** What was said since the last message that is known, the newest first. */
  async function missed(): Promise<ChatMessage[]> {
    const messages: ChatMessage[] = []
    for await (const message of client.listMessages(conversationId)) {
      if (known.has(message.id)) break
      messages.push(message)
    }
    return messages
  }

  async function open(): Promise<ChatStream> {
    // What comes before the past is known waits for it: the order counts, and `missed` looks for the last that is known.
    const early: ChatMessage[] = []
    let take = (message: ChatMessage): void => void early.unshift(message)
    const opened = await client.listen(conversationId, (signal) => {
      if (signal.type === 'message_created') take(signal.data)
      else receive?.(signal)
    })
    try {
      const past = await missed()
      take = hear
      for (const message of [...early, ...past].toReversed()) hear(message)
    } catch (error) {
      opened.close()
      throw error
    }
    void opened.ended.then(reconnect)
    return opened
  }

  async function reconnect(): Promise<void> {
    if (closed.signal.aborted) return
    connected(false)
    while (!closed.signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, reconnectMilliseconds))
      try {
        stream = await open()
        if (closed.signal.aborted) stream.close()
        else connected(true)
        return
      } catch {
        // The platform is still unavailable.
      }
    }
  }

  return {
    async catchUp() {
      for (const message of (await missed()).toReversed()) hear(message)
    },
    close() {
      closed.abort()
      stream.close()
    },
  }
}
