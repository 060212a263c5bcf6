import type { Channels, WebhookHandler } from 'isobot/bot'
import { describe, type Delivery } from './describe'
import { isSigned } from './signature'

interface Configuration {
  secret: string
}

/** Receives the deliveries of the webhook. Everything in a request may be wrong until its signature has been checked. */
export const handler: WebhookHandler<Configuration> = async ({ ctx, request, client }) => {
  const { 'x-hub-signature-256': signature = '', 'x-github-event': type = '' } = request.headers
  // JSON is text; the bytes of the body are those of `body` in UTF-8.
  const body = request.isBase64 ? '' : (request.body ?? '')
  if (!(await isSigned(body, signature, ctx.configuration.secret)))
    return { status: 401, body: 'The signature is wrong' }

  const delivery = parse(body)
  if (delivery === undefined) return { status: 400, body: 'Choose the content type application/json for the webhook' }
  const { repository, sender } = delivery
  const text = describe(type, delivery)
  if (text === undefined || !repository || !sender) return { status: 202, body: `Nothing to announce: ${type}` }

  await client.initializeIncomingMessage({
    user: { name: sender.login, tags: { login: sender.login } },
    conversation: { channel: 'repository', tags: { repository: repository.full_name } },
    // GitHub may deliver again, and a delivery is one message all the same.
    message: { type: 'text', payload: { text }, tags: { delivery: request.headers['x-github-delivery'] ?? '' } },
  })
  return { status: 200, body: 'Announced' }
}

function parse(body: string): Delivery | undefined {
  try {
    return JSON.parse(body) as Delivery
  } catch {
    return undefined
  }
}

/** The conversation of a repository is read only: what the bot says there goes nowhere. */
export const channels: Channels<Configuration> = {
  repository: ({ conversation, logger }) => logger.debug('Not sent to', conversation.tags.repository),
}
