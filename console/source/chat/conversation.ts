import { batch, signal, type Signal } from '@preact/signals'
import { connectToChat, type ChatClient } from '../../../shared/chat-client/chat-client.ts'
import type { ChatSignal } from '../../../shared/chat-client/chat-stream.ts'
import { keepListening } from '../../../shared/chat-client/keep-listening.ts'

export interface Said {
  id: string
  isBot: boolean
  payload: Record<string, unknown>
  createdAt: string
  /** Whether the bot is still streaming the message. */
  isStreaming?: boolean
}

export interface Conversation {
  id: string
  said: Signal<Said[]>
  /** Whether an answer of the bot is outstanding. */
  isAwaited: Signal<boolean>
  /** Whether the connection is lost. Messages sent meanwhile are received after the reconnection. */
  isAway: Signal<boolean>
  /** @param value the value of the choice whose label is the text */
  say(text: string, value?: string): Promise<void>
  end(): void
}

/** The stored key and id of this tab's conversation. */
interface Kept {
  key: string
  conversationId: string
}

/**
 * Resumes this tab's conversation with a bot or begins one, over the Chat API as any other client.
 *
 * @param isNew whether to begin a new one in any case
 */
export async function openConversation(webhookId: string, isNew: boolean): Promise<Conversation> {
  const apiUrl = `${location.origin}/chat/${webhookId}`
  const storedAs = `isobot.chat.${webhookId}`
  const kept = isNew ? null : sessionStorage.getItem(storedAs)
  const { client, id } = (kept && (await goOn(apiUrl, JSON.parse(kept) as Kept))) || (await begin(apiUrl))
  sessionStorage.setItem(storedAs, JSON.stringify({ key: client.user.key, conversationId: id } satisfies Kept))
  return listen(client, id)
}

/** Resumes a conversation; undefined when its user or the conversation no longer exists. */
async function goOn(apiUrl: string, { key, conversationId: id }: Kept) {
  try {
    const client = await connectToChat(apiUrl, key)
    await client.getConversation(id)
    return { client, id }
  } catch {
    return undefined
  }
}

async function begin(apiUrl: string) {
  const client = await connectToChat(apiUrl)
  return { client, id: (await client.createConversation()).id }
}

/** Maximum time for which the wait for an answer is shown. */
const patienceMilliseconds = 60_000

/** Listens to a conversation and reconnects after a lost connection. */
async function listen(client: ChatClient, id: string): Promise<Conversation> {
  const said = signal<Said[]>([])
  const isAwaited = signal(false)
  const isAway = signal(false)
  let patience: ReturnType<typeof setTimeout> | undefined
  const put = (message: Said, replaced = message.id) => {
    const others = said.value.filter((one) => one.id !== message.id && one.id !== replaced)
    batch(() => {
      said.value = [...others, message].toSorted((a, b) => a.createdAt.localeCompare(b.createdAt))
      if (message.isBot) isAwaited.value = false
    })
  }
  const remove = (id: string) => {
    said.value = said.value.filter((one) => one.id !== id)
  }

  const listening = await keepListening(client, id, {
    received: ({ id, userId, payload, createdAt }) => put({ id, isBot: userId !== client.user.id, payload, createdAt }),
    signalled: (chatSignal) => receiveSignal(chatSignal, said, put, remove),
    connected(isConnected) {
      isAway.value = !isConnected
      // The stream does not repeat the missed parts of a message that was being streamed.
      if (!isConnected) said.value = said.value.filter(({ isStreaming }) => !isStreaming)
    },
  })
  return {
    id,
    said,
    isAwaited,
    isAway,
    async say(text, value) {
      isAwaited.value = true
      clearTimeout(patience)
      patience = setTimeout(() => (isAwaited.value = false), patienceMilliseconds)
      try {
        const message = await client.createMessage(id, { type: 'text', text, ...(value !== undefined && { value }) })
        put({ id: message.id, isBot: false, payload: message.payload, createdAt: message.createdAt })
      } catch (error) {
        isAwaited.value = false
        throw error
      }
    },
    end() {
      clearTimeout(patience)
      listening.close()
    },
  }
}

/** Shows streamed messages and removes aborted and deleted ones. */
function receiveSignal(
  { type, data }: ChatSignal,
  said: Signal<Said[]>,
  put: (message: Said, replaced?: string) => void,
  remove: (id: string) => void,
): void {
  if (type === 'message_stream_delta') {
    const { streamId, createdAt, delta } = data
    const begun = said.value.find((one) => one.id === streamId)
    const soFar = begun?.payload['text']
    const payload = { type: 'text', text: typeof soFar === 'string' ? soFar + delta : delta }
    put({ id: streamId, isBot: true, payload, createdAt, isStreaming: true })
  } else if (type === 'message_stream_complete') {
    const { id, payload, createdAt } = data.message
    put({ id, isBot: true, payload, createdAt }, data.streamId)
  } else if (type === 'message_stream_abort') {
    remove(data.streamId)
  } else if (type === 'message_deleted') {
    remove(data.id)
  }
}
