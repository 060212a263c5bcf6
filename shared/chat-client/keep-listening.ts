import type { ChatClient } from './chat-client.ts'
import type { ChatMessage, ChatSignal, ChatStream } from './chat-stream.ts'

/** The callbacks of a listener. */
export interface ConversationListener {
  /** Receives each message once and in order, earlier messages included. */
  received(message: ChatMessage): void
  /** Receives each signal that is not a new message. Signals sent while the connection is down are lost. */
  signalled?(signal: ChatSignal): void
  /**
   * Called when the connection is lost, and when it is restored: after `received` has received the messages sent
   * meanwhile.
   */
  connected(isConnected: boolean): void
}

/** An open listener of a conversation. */
export interface Listening {
  /** Passes all messages stored so far to `received`, including those that the stream has not delivered yet. */
  catchUp(): Promise<void>
  close(): void
}

const reconnectMilliseconds = 500

/**
 * Listens to a conversation until it is closed, in Node and in browsers. When the stream ends, it opens another one and
 * reads the messages that were created meanwhile.
 *
 * @throws Error when the first connection fails
 */
export async function keepListening(
  client: ChatClient,
  conversationId: string,
  { received, signalled, connected }: ConversationListener,
): Promise<Listening> {
  const known = new Set<string>()
  const closed = new AbortController()
  let stream = await open()

  function deliver(message: ChatMessage): void {
    if (known.has(message.id)) return
    known.add(message.id)
    received(message)
  }

  /** The messages since the last known one, newest first. */
  async function missed(): Promise<ChatMessage[]> {
    const messages: ChatMessage[] = []
    for await (const message of client.listMessages(conversationId)) {
      if (known.has(message.id)) break
      messages.push(message)
    }
    return messages
  }

  async function open(): Promise<ChatStream> {
    // New messages wait until the past ones are known: order matters, and `missed` stops at the last known message.
    const early: ChatMessage[] = []
    let take = (message: ChatMessage): void => void early.unshift(message)
    const opened = await client.listen(conversationId, (signal) => {
      if (signal.type === 'message_created') take(signal.data)
      else signalled?.(signal)
    })
    try {
      const past = await missed()
      take = deliver
      for (const message of [...early, ...past].toReversed()) deliver(message)
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
      for (const message of (await missed()).toReversed()) deliver(message)
    },
    close() {
      closed.abort()
      stream.close()
    },
  }
}
