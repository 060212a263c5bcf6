import OpenAI from 'openai'

const options = { apiKey: 'key', baseURL: `${providerUrl}/v1`, dangerouslyAllowBrowser: true, maxRetries: 0 }
const openai = new OpenAI(options)

interface Argument {
  event: { conversationId: string; preview: string }
  client: {
    createMessage(input: object): Promise<unknown>
    generateAudioStream(input: object): AsyncIterable<{ audio?: string; audioUrl?: string }>
  }
}

/** A bot that has what its user says painted, spoken and spoken in parts, twice says what came, and waits in between. */
export const hooks = {
  async afterIncomingMessage({ event, client }: Argument): Promise<void> {
    const picture = await openai.images.generate({ model: 'local:small', prompt: event.preview })
    const speech = await openai.audio.speech.create({ model: 'local:small', input: event.preview, voice: 'nova' })
    const type = speech.headers.get('content-type')
    const bytes = new Uint8Array(await speech.arrayBuffer())
    let [streamed, url] = ['', '']
    for await (const { audio = '', audioUrl = '' } of client.generateAudioStream({ input: event.preview })) {
      streamed += audio
      url += audioUrl
    }
    const isSame = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('') === atob(streamed)
    const text = `${picture.data![0]!.b64_json}, ${type} of ${bytes.length} bytes, ${bytes[0]} to ${bytes.at(-1)}, ${isSame && url}`
    const message = { conversationId: event.conversationId, type: 'text', payload: { text } }
    await client.createMessage(message)
    await new Promise((resolve) => setTimeout(resolve, 2000))
    await client.createMessage(message)
  },
}
