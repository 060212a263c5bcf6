import type { LLMock } from '@copilotkit/aimock'
import type { VendorAnswer, VendorRequest, Vendors } from '../stand-in/stand-in.ts'

/** The integrations, and the host that each asks. */
export const providers: Record<string, string> = {
  anthropic: 'api.anthropic.com',
  cerebras: 'api.cerebras.ai',
  'fireworks-ai': 'api.fireworks.ai',
  'google-ai': 'generativelanguage.googleapis.com',
  groq: 'api.groq.com',
  'mistral-ai': 'api.mistral.ai',
  openai: 'api.openai.com',
}

const filesHost = 'files.stand-in.example'
/** The address of an audio file. */
export const audioAddress = `https://${filesHost}/hello.mp3`
const imageAddress = `https://${filesHost}/picture.png`

/** The questions to the providers, and their answers. */
export const answers = {
  text: { question: 'Say hello.', answer: 'Hello there.' },
  tool: { question: 'Which weather has Rome?', name: 'weather', input: { city: 'Rome' } },
  refusal: { question: 'Fail, please.', message: 'The stand-in refuses' },
  transcription: { text: 'Hello there.' },
  image: { prompt: 'A red square', bytes: Buffer.from('no picture, but its bytes') },
  speech: { input: 'Hello there.', bytes: Buffer.from('no audio, but its bytes') },
}

/** Teaches the simulated providers the answers. */
export function prepareAnswers(mock: LLMock): void {
  const { text, tool, refusal, transcription, image, speech } = answers
  const usage = { input_tokens: 10, output_tokens: 5, prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
  mock.onMessage(text.question, { content: text.answer, usage })
  mock.onMessage(tool.question, { toolCalls: [{ name: tool.name, arguments: JSON.stringify(tool.input) }] })
  mock.onMessage(refusal.question, { error: { message: refusal.message, type: 'invalid_request_error' }, status: 400 })
  const measured = { seek: 0, tokens: [1], temperature: 0, avg_logprob: -0.1, compression_ratio: 1, no_speech_prob: 0 }
  const segments = [{ id: 0, start: 0, end: 1, text: transcription.text, ...measured }]
  mock.onTranscription({ transcription: { text: transcription.text, language: 'english', duration: 1, segments } })
  mock.onImage(image.prompt, { image: { url: imageAddress } })
  mock.onSpeech(speech.input, { audio: speech.bytes.toString('base64') })
}

/** The hosts of the providers, which answer as the simulated ones do, and that of files. */
export function vendorsOf(url: string): Vendors {
  const simulated = (request: VendorRequest) => ask(url, request)
  return {
    ...Object.fromEntries(Object.values(providers).map((host) => [host, simulated])),
    [filesHost]: ({ path }) =>
      path.endsWith('.png')
        ? { file: answers.image.bytes, type: 'image/png' }
        : { file: Buffer.from('an audio file'), type: 'audio/mpeg' },
  }
}

/** The base addresses of providers that speak the language of OpenAI have a prefix. */
const prefix = /^\/(inference|openai)(?=\/v1)/

async function ask(url: string, { method, path, query, body, type }: VendorRequest): Promise<VendorAnswer> {
  const address = `${url}${path.replace(prefix, '')}?${query.toString()}`
  const response = await fetch(address, {
    method,
    ...(method !== 'GET' && { body }),
    headers: { 'content-type': type ?? 'application/json', authorization: 'Bearer key', 'x-api-key': 'key' },
  })
  const answered = response.headers.get('content-type') ?? ''
  if (!answered.startsWith('application/json')) {
    return { file: new Uint8Array(await response.arrayBuffer()), type: answered }
  }
  return { json: await response.json(), status: response.status }
}
