import type { Channels, MessageContent, WebhookHandler } from 'isobot/bot'
import { isSigned } from './signature'

interface Configuration {
  botToken: string
  signingSecret: string
  apiUrl: string
}

/** The fields of a request of the Events API that are needed here. */
interface SlackRequest {
  type: string
  challenge?: string
  event?: {
    type: string
    subtype?: string
    bot_id?: string
    user?: string
    channel?: string
    ts?: string
    text?: string
  }
}

export const handler: WebhookHandler<Configuration> = async ({ ctx, request, client }) => {
  const body = request.isBase64 ? '' : (request.body ?? '')
  if (!(await isSigned(body, request.headers, ctx.configuration.signingSecret))) return { status: 401 }
  const { type, challenge, event } = JSON.parse(body) as SlackRequest
  // Slack asks once whether the address is that of the app.
  if (type === 'url_verification') return { headers: { 'content-type': 'text/plain' }, body: challenge }
  if (!event || !['message', 'app_mention'].includes(event.type)) return {}
  const { subtype, bot_id: sender, user, channel, ts, text } = event
  // The messages of bots, this one among them, and changes of messages.
  if (subtype !== undefined || sender !== undefined || !user || !channel || !ts || !text) return {}
  await client.initializeIncomingMessage({
    user: { tags: { id: user } },
    conversation: { channel: 'channel', tags: { id: channel } },
    message: {
      type: 'text',
      payload: { text: text.replaceAll(/<@\w+>/g, '').trim() },
      // A mention comes as two events, and Slack sends an event again that is not answered soon: all are one message.
      tags: { id: `${channel}:${ts}` },
    },
  })
  return {}
}

export const channels: Channels<Configuration> = {
  async channel({ ctx, conversation, logger, ...message }) {
    const text = toText(message)
    if (text === undefined) return logger.warn('Slack gets no', message.type, 'of this bot')
    const { apiUrl, botToken } = ctx.configuration
    const response = await fetch(`${apiUrl}/chat.postMessage`, {
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=utf-8', authorization: `Bearer ${botToken}` },
      body: JSON.stringify({ channel: conversation.tags.id, text }),
    })
    if (!response.ok) throw new Error(`Slack answers with ${response.status}`)
    const { ok, error } = (await response.json()) as { ok: boolean; error?: string }
    if (!ok) throw new Error(`Slack refuses the message: ${error}`)
  },
}

function toText({ type, payload }: MessageContent): string | undefined {
  if (type === 'text' || type === 'markdown') return type === 'text' ? payload.text : payload.markdown
  if (type === 'choice' || type === 'dropdown') {
    return [payload.text, ...payload.options.map(({ label }) => `• ${label}`)].join('\n')
  }
  return undefined
}
