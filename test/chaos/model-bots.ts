import { setTimeout as pause } from 'node:timers/promises'
import { answerWith, complete, ScriptedStream, type ModelRequest } from '../support/models.ts'

type Response = Parameters<typeof answerWith>[0]

/** A bot that asks models several questions about each message, and says each answer in a message of its own. */
export interface ModelBot {
  /** For a title: a bot that … */
  does: string
  code: string
  /** Its questions about a text, in order. */
  questions(text: string): string[]
  /** The question of a request. */
  questionOf(request: ModelRequest): Promise<string>
  /** Answers a request with a text, within some time. */
  answer(response: Response, request: ModelRequest, text: string): Promise<void>
}

/** Asks a model for a streamed answer that the user reads meanwhile, then for a second one. */
export const textBot: ModelBot = {
  does: 'asks models',
  code: `export const hooks = {
    async afterIncomingMessage({ event, client }) {
      const { conversationId, preview } = event
      const stream = client.streamMessage(conversationId)
      for await (const { output } of client.generateTextStream({ messages: [{ role: 'user', content: 'streamed ' + preview }] })) {
        await stream.write(output)
      }
      await stream.end()
      const { output } = await client.generateText({ messages: [{ role: 'user', content: 'whole ' + preview }] })
      await client.createMessage({ conversationId, type: 'text', payload: { text: output } })
    },
  }`,
  questions: (text) => [`streamed ${text}`, `whole ${text}`],
  questionOf: async ({ body }) => String(body.messages.at(-1).content),
  async answer(response, { body }, text) {
    if (body.stream !== true) {
      await pause(150)
      return complete(response, { content: text })
    }
    const stream = new ScriptedStream(response)
    for (const [index, word] of text.split(' ').entries()) {
      stream.write(index === 0 ? word : ` ${word}`)
      await pause(30)
    }
    stream.end()
  },
}

/** The first bytes of a picture, after which a test's picture has its text. */
const signature = '\x89PNG\r\n\x1a\n'

/** Has a picture made, and a text spoken and transcribed. The picture and the speech come as they are stored. */
export const mediaBot: ModelBot = {
  does: 'has models make pictures and speech, and transcribe',
  code: `const openai = 'https://api.isobot.internal/v2/cognitive/openai/v1'
  const ask = (path, input) => fetch(openai + path, { method: 'POST', body: JSON.stringify({ model: 'auto', ...input }) })
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      const { conversationId, preview } = event
      const say = (text) => client.createMessage({ conversationId, type: 'text', payload: { text } })
      const { data } = await (await ask('/images/generations', { prompt: 'painted ' + preview })).json()
      await say(atob(data[0].b64_json).slice(${signature.length}))
      await say(await (await ask('/audio/speech', { input: 'spoken ' + preview, voice: 'nova' })).text())
      const url = 'data:audio/mpeg;base64,' + btoa('heard ' + preview)
      await say((await client.transcribeAudio({ url })).output)
    },
  }`,
  questions: (text) => [`painted ${text}`, `spoken ${text}`, `heard ${text}`],
  questionOf: async ({ body }) => body.prompt ?? body.input ?? (await body.file.text()),
  async answer(response, { path }, text) {
    await pause(150)
    if (path.endsWith('/speech')) return void response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(text)
    const picture = Buffer.from(`${signature}${text}`, 'latin1').toString('base64')
    const body = path.endsWith('/generations') ? { data: [{ b64_json: picture }] } : { text, duration: 1 }
    answerWith(response, 200, JSON.stringify(body))
  },
}
