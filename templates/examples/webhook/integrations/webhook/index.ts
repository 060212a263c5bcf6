import type { Channels, WebhookHandler } from 'isobot/bot'
import { areEqual, sign } from './crypto'

interface Configuration {
  token: string
  url: string
}

/** A message of the service. */
interface Incoming {
  /** The service’s own ids of the message, the conversation and the person. */
  id: string
  conversation: string
  user: string
  name?: string
  text: string
}

export const handler: WebhookHandler<Configuration> = async ({ ctx, request, client }) => {
  const given = request.headers.authorization ?? ''
  if (!(await areEqual(given, `Bearer ${ctx.configuration.token}`)))
    return { status: 401, body: { error: 'The token is wrong' } }
  const message = read(request.body)
  if (message === undefined) {
    return { status: 400, body: { error: 'Send JSON with the texts id, conversation, user and text' } }
  }
  const { id, conversation, user, name = user, text } = message
  await client.initializeIncomingMessage({
    user: { name, tags: { id: user } },
    conversation: { channel: 'conversation', tags: { id: conversation } },
    // A message that the service sends again is one message.
    message: { type: 'text', payload: { text }, tags: { id } },
  })
  return { status: 202, body: {} }
}

function read(body = ''): Incoming | undefined {
  try {
    const message = JSON.parse(body) as Record<string, unknown>
    const isComplete = ['id', 'conversation', 'user', 'text'].every((field) => {
      const value = message[field]
      return typeof value === 'string' && value !== ''
    })
    return isComplete ? (message as unknown as Incoming) : undefined
  } catch {
    return undefined
  }
}

export const channels: Channels<Configuration> = {
  async conversation({ ctx, type, payload, message, conversation }) {
    const { url, token } = ctx.configuration
    const body = JSON.stringify({ id: message.id, conversation: conversation.tags.id, type, payload })
    const headers = { 'content-type': 'application/json', 'x-signature': `sha256=${await sign(body, token)}` }
    const response = await fetch(url, { method: 'POST', headers, body })
    // The platform repeats the delivery after an error, with the same id.
    if (!response.ok) throw new Error(`The service answers with ${response.status}`)
  },
}
