import { send, type Answer } from './platform.ts'

/** A user who talks to a bot over plain HTTP. */
export interface ChatUser {
  userId: string
  key: string
  ask(method: string, path: string, body?: unknown): Promise<Answer>
  createConversation(id?: string): Promise<string>
  send(conversationId: string, text: string): Promise<Answer>
  /** The messages of a conversation, oldest first. */
  messages(conversationId: string): Promise<{ text: string; userId: string; createdAt: string; id: string }[]>
}

/** Creates a user of a chat. */
export async function createChatUser(chatUrl: string, user: object = {}): Promise<ChatUser> {
  const created = await send('POST', `${chatUrl}/users`, user)
  if (created.status !== 201) throw new Error(`createUser: ${JSON.stringify(created.body)}`)
  const { key } = created.body
  const ask: ChatUser['ask'] = (method, path, body) => send(method, `${chatUrl}${path}`, body, { 'x-user-key': key })
  return {
    userId: created.body.user.id,
    key,
    ask,
    async createConversation(id) {
      const { body } = await ask('POST', '/conversations', id ? { id } : {})
      return body.conversation.id
    },
    send: (conversationId, text) => ask('POST', '/messages', { conversationId, payload: { type: 'text', text } }),
    async messages(conversationId) {
      const said = []
      let nextToken: string | undefined
      do {
        const query = nextToken ? `?nextToken=${encodeURIComponent(nextToken)}` : ''
        const { body } = await ask('GET', `/conversations/${encodeURIComponent(conversationId)}/messages${query}`)
        for (const { payload, userId, createdAt, id } of body.messages)
          said.push({ text: payload.text, userId, createdAt, id })
        nextToken = body.meta.nextToken
      } while (nextToken)
      return said.toReversed()
    },
  }
}
