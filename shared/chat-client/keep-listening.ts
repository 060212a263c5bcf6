import type { AuthenticatedClient, SignalListener } from '@botpress/chat'

/** What was said in a conversation, as the Chat API shows it. */
export interface ChatMessage {
  id: string
  createdAt: string
  payload: { type: string; [field: string]: unknown }
  userId: string
  conversationId: string
  metadata?: Record<string, unknown>
}

/** What a conversation is listened to with. */
export interface ConversationListener {
  /** A message of anybody, what was said before included: each once, in order. */
  heard(message: ChatMessage): void
  /** Attaches what hears other signals. Called for each stream that is opened. */
  attach?(stream: SignalListener): void
  /** The connection was lost, or is there again. What was said meanwhile was heard then. */
  connected(isConnected: boolean): void
}

/** A conversation that is being listened to. */
export interface Listening {
  /** Hears what was said until now, also what is still on its way. */
  catchUp(): Promise<void>
  close(): Promise<void>
}

const reconnectMilliseconds = 500

/**
 * Listens to a conversation through the published client until it is closed, in Node and in browsers. The client's own
 * listener gives up at the first error; this one listens anew when the platform answers again.
 *
 * @throws Error when it cannot be listened to at the beginning
 */
export async function keepListening(
  client: AuthenticatedClient,
  conversationId: string,
  { heard, attach, connected }: ConversationListener,
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
    for await (const message of client.list.messages({ conversationId })) {
      if (known.has(message.id)) break
      messages.push(message as ChatMessage)
    }
    return messages
  }

  async function open(): Promise<SignalListener> {
    const opened = await client.listenConversation({ id: conversationId })
    // What comes before the past is known waits for it: the order counts, and `missed` looks for the last that is known.
    const early: ChatMessage[] = []
    let take = (message: ChatMessage): void => void early.unshift(message)
    opened.on('message_created', (message) => take(message as ChatMessage))
    try {
      attach?.(opened)
      const past = await missed()
      take = hear
      for (const message of [...early, ...past].toReversed()) hear(message)
      if (opened.status !== 'connected') throw new Error('The connection was lost again')
      opened.on('error', () => void reconnect())
      return opened
    } catch (error) {
      await opened.disconnect()
      throw error
    }
  }

  async function reconnect(): Promise<void> {
    if (closed.signal.aborted) return
    connected(false)
    while (!closed.signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, reconnectMilliseconds))
      try {
        // A listener that cannot connect goes on trying for ever, unseen: first it must be known that somebody answers.
        await client.getConversation({ id: conversationId })
        stream = await open()
        if (closed.signal.aborted) await stream.disconnect()
        else connected(true)
        return
      } catch {
        // The platform is still away.
      }
    }
  }

  return {
    async catchUp() {
      for (const message of (await missed()).toReversed()) hear(message)
    },
    async close() {
      closed.abort()
      await stream.disconnect()
    },
  }
}
