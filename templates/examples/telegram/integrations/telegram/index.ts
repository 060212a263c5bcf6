import type { Channels, MessageContent, Register, WebhookHandler } from 'isobot/bot'
import { call, type Configuration } from './api'
import { areEqual, secretToken } from './secret-token'

/** Tells Telegram the address of the webhook, at the installation and after each change of the configuration. */
export const register: Register<Configuration> = async ({ ctx }) => {
  await call(ctx.configuration, 'setWebhook', {
    url: ctx.webhookUrl,
    secret_token: await secretToken(ctx.configuration.token, ctx.webhookId),
    allowed_updates: ['message'],
  })
}

export const unregister: Register<Configuration> = async ({ ctx }) => {
  await call(ctx.configuration, 'deleteWebhook', {})
}

/** The fields of an update that are needed here. */
interface Update {
  update_id: number
  message?: {
    text?: string
    chat: { id: number }
    from?: { id: number; is_bot: boolean; first_name: string; last_name?: string }
  }
}

export const handler: WebhookHandler<Configuration> = async ({ ctx, request, client }) => {
  const given = request.headers['x-telegram-bot-api-secret-token'] ?? ''
  if (!areEqual(given, await secretToken(ctx.configuration.token, ctx.webhookId))) return { status: 401 }
  const { update_id: id, message } = JSON.parse(request.body ?? '{}') as Update
  if (!message?.text || !message.from || message.from.is_bot) return {}
  const { text, chat, from } = message
  await client.initializeIncomingMessage({
    user: {
      name: [from.first_name, from.last_name].filter(Boolean).join(' '),
      tags: { id: String(from.id) },
    },
    conversation: { channel: 'chat', tags: { id: String(chat.id) } },
    // Telegram sends an update again that is not answered soon.
    message: { type: 'text', payload: { text }, tags: { id: String(id) } },
  })
  return {}
}

export const channels: Channels<Configuration> = {
  async chat({ ctx, conversation, logger, ...message }) {
    const request = toRequest(message)
    if (!request) return logger.warn('Telegram gets no', message.type, 'of this bot')
    const [method, parameters] = request
    await call(ctx.configuration, method, { chat_id: conversation.tags.id, ...parameters })
  },
}

/** The method of the Bot API that sends a message, with its parameters. */
function toRequest({ type, payload }: MessageContent): [method: string, parameters: object] | undefined {
  if (type === 'text') return ['sendMessage', { text: payload.text, reply_markup: { remove_keyboard: true } }]
  if (type === 'image') return ['sendPhoto', { photo: payload.imageUrl }]
  if (type !== 'choice' && type !== 'dropdown') return undefined
  // A pressed key sends its text, which the bot gets as what the user wrote.
  const keyboard = payload.options.map(({ label }) => [{ text: label }])
  return [
    'sendMessage',
    { text: payload.text, reply_markup: { keyboard, one_time_keyboard: true, resize_keyboard: true } },
  ]
}
