import { once } from 'node:events'
import { Agent, request, type ClientRequest, type IncomingMessage } from 'node:http'
import type { Chat } from './system.ts'

/** A chat user's end of a conversation. */
export interface Conversation {
  /** Sends a message. Resolves when it has been answered over HTTP and the bot's reply has arrived on the stream. */
  say(): Promise<void>
  /** Resolves when the next message with this text arrives on the stream. */
  untilHeard(text: string): Promise<void>
}

const messages = new Agent({ keepAlive: true, maxSockets: Infinity })
const replyPrefix = 'You said '

/** Listens to a conversation, on a connection of its own, and prepares to send in it. */
export async function openConversation(chatUrl: string, { conversationId, key }: Chat): Promise<Conversation> {
  const awaited = new Map<string, () => void>()
  await listen(`${chatUrl}/conversations/${conversationId}/listen`, key, (text) => {
    awaited.get(text)?.()
    awaited.delete(text)
  })
  const untilHeard = (text: string) => new Promise<void>((resolve) => awaited.set(text, resolve))
  const messagesUrl = new URL(`${chatUrl}/messages`)
  const headers = { 'content-type': 'application/json', 'x-user-key': key }
  let count = 0

  return {
    async say() {
      const text = `This is message ${count++} of a conversation`
      const heard = untilHeard(replyPrefix + text)
      const body = JSON.stringify({ conversationId, payload: { type: 'text', text } })
      const posting = request(messagesUrl, {
        method: 'POST',
        agent: messages,
        headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      })
      posting.end(body)
      await Promise.all([accepted(posting), heard])
    },
    untilHeard,
  }
}

async function accepted(posting: ClientRequest): Promise<void> {
  const [response] = (await once(posting, 'response')) as [IncomingMessage]
  if (response.statusCode !== 201) throw new Error(`A message was answered with ${response.statusCode}`)
  response.resume()
  await once(response, 'end')
}

/** Calls `hear` with the text of each message on a stream. Resolves when the stream is open. */
async function listen(url: string, key: string, hear: (text: string) => void): Promise<void> {
  const listening = request(url, { agent: false, headers: { 'x-user-key': key } })
  listening.end()
  const [response] = (await once(listening, 'response')) as [IncomingMessage]
  if (response.statusCode !== 200) throw new Error(`A stream was answered with ${response.statusCode}`)
  let unread = ''
  response.setEncoding('utf8')
  response.on('error', () => {})
  response.on('data', (chunk: string) => {
    const blocks = (unread + chunk).split('\n\n')
    unread = blocks.pop() ?? ''
    for (const block of blocks) {
      const start = block.indexOf('data: ')
      // A block without data is a comment.
      const data = start < 0 ? 'ping' : block.slice(start + 'data: '.length)
      const text = data === 'ping' ? undefined : textOf(data)
      if (text !== undefined) hear(text)
    }
  })
}

/** The text of a message; undefined for other signals. */
function textOf(signal: string): string | undefined {
  return (JSON.parse(signal) as { data: { payload?: { text: string } } }).data.payload?.text
}
