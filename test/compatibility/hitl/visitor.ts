import { openStream } from '../../support/event-stream.ts'
import { until } from './session.ts'

/** A visitor of the web chat, as the published package is one. */
export interface Visitor extends AsyncDisposable {
  ask(method: string, path: string, body?: object): Promise<unknown>
  /** Sends a text. */
  say(text: string): Promise<void>
  /** Waits for a text of someone else. @returns its author */
  heard(text: string): Promise<{ userId: string }>
  /** Those whose names the web chat shows. */
  participants(): Promise<{ id: string; name?: string }[]>
}

/** Opens a conversation. @param url of the web chat */
export async function openVisitor(url: string): Promise<Visitor> {
  const stream = await openStream(`${url}/initialize`, {})
  const first = await until(async () => stream.frames()[0], 'the web chat opens')
  const { conversation, user } = first.data as { conversation: { id: string }; user: { id: string; userKey: string } }
  const headers = { 'x-user-key': user.userKey }

  async function ask(method: string, path: string, body?: object): Promise<unknown> {
    const init = body && { body: JSON.stringify(body) }
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      ...init,
    })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    return answer.json()
  }

  return {
    ask,
    async say(text) {
      await ask('POST', '/messages', { conversationId: conversation.id, payload: { type: 'text', text } })
    },
    heard: (text) =>
      until(async () => {
        const frames = stream.frames().filter(({ type }) => type === 'message_created')
        const messages = frames.map(({ data }) => data as { userId: string; payload: { text?: string } })
        return messages.find(({ userId, payload }) => userId !== user.id && payload.text === text)
      }, `the visitor hears ${text}`),
    async participants() {
      const again = await openStream(`${url}/initialize?conversationId=${conversation.id}`, headers)
      const { data } = await until(async () => again.frames()[0], 'the web chat opens again')
      await again.close()
      return (data as { participants: { id: string; name?: string }[] }).participants
    },
    [Symbol.asyncDispose]: () => stream.close(),
  }
}
