import { readError } from './chat-error.ts'
import { openChatStream, type ChatMessage, type ChatSignal, type ChatStream } from './chat-stream.ts'

/**
 * A client of a bot's chat for one user, with the calls that the console and the command line use. Runs in Node and in
 * browsers.
 */
export interface ChatClient {
  readonly user: { id: string; key: string }
  createConversation(): Promise<{ id: string }>
  /** @throws ChatError when the conversation does not exist or the user is not a participant */
  getConversation(id: string): Promise<{ id: string }>
  createMessage(conversationId: string, payload: ChatMessage['payload']): Promise<ChatMessage>
  /** All messages of a conversation, the newest first. */
  listMessages(conversationId: string): AsyncGenerator<ChatMessage>
  /** Receives the signals of a conversation from now on, until the stream ends or is closed. */
  listen(conversationId: string, receive: (signal: ChatSignal) => void): Promise<ChatStream>
}

const requestMilliseconds = 60_000

/**
 * Connects to a chat as a new user, or as the user of a key.
 *
 * @param url of the chat, `https://<platform>/chat/<webhook id>`
 * @throws ChatError when the chat refuses it, TypeError when it cannot be reached
 */
export async function connectToChat(url: string, userKey?: string): Promise<ChatClient> {
  const { user, key } =
    userKey === undefined
      ? await request<Connected>(url, 'POST', '/users', { body: {} })
      : { ...(await request<Connected>(url, 'POST', '/users/get-or-create', { body: {}, userKey })), key: userKey }
  const ask = <Answer>(method: 'GET' | 'POST', path: string, body?: object) =>
    request<Answer>(url, method, path, { userKey: key, ...(body && { body }) })

  return {
    user: { id: user.id, key },
    createConversation: async () =>
      (await ask<{ conversation: { id: string } }>('POST', '/conversations', {})).conversation,
    getConversation: async (id) => (await ask<{ conversation: { id: string } }>('GET', pathOf(id))).conversation,
    async createMessage(conversationId, payload) {
      return (await ask<{ message: ChatMessage }>('POST', '/messages', { conversationId, payload })).message
    },
    async *listMessages(conversationId) {
      let query = ''
      while (true) {
        const { messages, meta } = await ask<MessagePage>('GET', `${pathOf(conversationId)}/messages${query}`)
        yield* messages
        if (meta.nextToken === undefined) return
        query = `?nextToken=${encodeURIComponent(meta.nextToken)}`
      }
    },
    listen: (conversationId, receive) => openChatStream(`${url}${pathOf(conversationId)}/listen`, key, receive),
  }
}

function pathOf(conversationId: string): string {
  return `/conversations/${encodeURIComponent(conversationId)}`
}

interface Connected {
  user: { id: string }
  key: string
}

interface MessagePage {
  messages: ChatMessage[]
  meta: { nextToken?: string }
}

async function request<Answer>(
  url: string,
  method: 'GET' | 'POST',
  path: string,
  { body, userKey }: { body?: object; userKey?: string },
): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(userKey !== undefined && { 'x-user-key': userKey }),
    },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(requestMilliseconds),
  })
  if (!response.ok) throw await readError(response)
  return (await response.json()) as Answer
}
