import OpenAI from 'openai'
import type { Hooks } from 'isobot/bot'

const options = { apiKey: 'key', baseURL: `${providerUrl}/v1`, dangerouslyAllowBrowser: true, maxRetries: 0 }
const openai = new OpenAI(options)

export const hooks: Hooks = {
  async afterIncomingMessage({ event, client }) {
    const file = new File([event.preview], 'voice.mp3', { type: 'audio/mpeg' })
    const { text } = await openai.audio.transcriptions.create({ file, model: 'local:small', language: 'en' })
    const plain = await openai.audio.transcriptions.create({ file, model: 'local:small', response_format: 'text' })
    const payload = { text: `${text} ${String(plain)}` }
    await client.createMessage({ conversationId: event.conversationId, type: 'text', payload })
  },
}
