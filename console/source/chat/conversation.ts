import { batch, signal, type Signal } from '@preact/signals'
import { connectToChat, type ChatClient } from '../../../shared/chat-client/chat-client.ts'
import type { ChatSignal } from '../../../shared/chat-client/chat-stream.ts'
import { keepListening } from '../../../shared/chat-client/keep-listening.ts'

export interface Said {
  id: string
  isBot: boolean
  payload: Record<string, unknown>
  createdAt: string
  /** It is still being written. */
  isStreaming?: boolean
}

export interface Conversation {
  id: string
  said: Signal<Said[]>
  /** Whether the bot was asked and has not answered yet. */
  isAwaited: Signal<boolean>
  /** Whether the connection is lost; what was said meanwhile comes when there is one again. */
  isAway: Signal<boolean>
  /** @param value what the text, the label of a choice, stands for */
  say(text: string, value?: string): Promise<void>
  end(): void
}

/** How to come back to the conversation of this tab. */
interface Kept {
  key: string
  conversationId: string
}

/**
 * Goes on with this tab's conversation with a bot, or begins one, as any page would that chats: by the Chat API.
 *
 * @param isNew whether to begin another one
 */
export async function openConversation(webhookId: string, isNew: boolean): Promise<Conversation> {
  const apiUrl = `${location.origin}/chat/${webhookId}`
  const storedAs = `isobot.chat.${webhookId}`
  const kept = isNew ? null : sessionStorage.getItem(storedAs)
  const { client, id } = (kept && (await goOn(apiUrl, JSON.parse(kept) as Kept))) || (await begin(apiUrl))
  sessionStorage.setItem(storedAs, JSON.stringify({ key: client.user.key, conversationId: id } satisfies Kept))
  return listen(client, id)
}

/** Undefined when there is no such user or conversation any more. */
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

/** The wait for an answer is shown no longer than this. */
const patienceMilliseconds = 60_000

/** Listens to a conversation; when the connection is lost, as soon as there is one again. */
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
    heard: ({ id, userId, payload, createdAt }) => put({ id, isBot: userId !== client.user.id, payload, createdAt }),
    receive: (chatSignal) => receiveSignal(chatSignal, said, put, remove),
    connected(isConnected) {
      isAway.value = !isConnected
      // How a message goes on that was being written meanwhile, nobody tells again.
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

/** Shows a message while it is being written, and removes one that was deleted. */
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
