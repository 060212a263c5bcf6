import type { Conversation } from '../conversation.ts'
import type { Chat } from '../system.ts'
import { Agent, request, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { text as readText } from 'node:stream/consumers'

const agent = new Agent({ keepAlive: true, maxSockets: Infinity })

/** Conversations of an engine that has no users. */
export function echoChats(count: number): Chat[] {
  return Array.from({ length: count }, (_, index) => ({ conversationId: `conversation-${index}`, key: 'none' }))
}

/** A conversation with an engine that has no streams: the reply is the response to the request with the message. */
export function openRequests(url: string, { conversationId }: Chat): Pick<Conversation, 'say'> {
  const sayUrl = new URL(`${url}/Conversation/${conversationId}/say`)
  let count = 0
  return {
    async say() {
      const text = `This is message ${count++} of a conversation`
      const body = JSON.stringify({ text })
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
      const posting = request(sayUrl, { method: 'POST', agent, headers })
      posting.end(body)
      const [response] = (await once(posting, 'response')) as [IncomingMessage]
      const answer = await readText(response)
      if (response.statusCode !== 200) throw new Error(`A message was answered with ${response.statusCode}: ${answer}`)
      const reply = JSON.parse(answer) as { text: string }
      if (reply.text !== `You said ${text}`) throw new Error(`A message was answered with ${answer}`)
    },
  }
}
