import OpenAI from 'openai'

const options = { apiKey: 'key', baseURL: `${providerUrl}/v1`, dangerouslyAllowBrowser: true, maxRetries: 0 }
const openai = new OpenAI(options)

interface Argument {
  event: { conversationId: string; preview: string }
  client: { createMessage(input: object): Promise<unknown> }
}

/** A bot that has what its user says transcribed, as a file and as text. */
export const hooks = {
  async afterIncomingMessage({ event, client }: Argument): Promise<void> {
    const file = new File([event.preview], 'voice.mp3', { type: 'audio/mpeg' })
    const { text } = await openai.audio.transcriptions.create({ file, model: 'local:small', language: 'en' })
    const plain = await openai.audio.transcriptions.create({ file, model: 'local:small', response_format: 'text' })
    const payload = { text: `${text} ${plain}` }
    await client.createMessage({ conversationId: event.conversationId, type: 'text', payload })
  },
}
