import { closedObject, type Infer } from '../schema.ts'
import { dollars, modelUsage } from './language-model.ts'
import { mediaModel, spokenLanguage } from './media.ts'

export const transcribeAudioInput = closedObject(
  {
    url: {
      type: 'string',
      minLength: 1,
      description:
        'The audio: a data URL in base64, the `url` of a file, or, in bot code, an address on a granted host. At most 25 MB.',
    },
  },
  {
    mimeType: {
      type: 'string',
      pattern: '^[\\w.+-]{1,60}/[\\w.+-]{1,60}$',
      description: 'For instance `audio/mpeg`. That of the address unless given.',
    },
    model: mediaModel,
    language: {
      ...spokenLanguage,
      description: 'The language that is spoken, for instance `en`; the model finds it out unless given.',
    },
    prompt: {
      type: 'string',
      maxLength: 4000,
      description: 'Names and terms that are spoken, or the text before; models of Google get none.',
    },
  },
)

const seconds = { type: 'number', description: 'Seconds from the start of the audio.' } as const

export const transcribeAudioOutput = closedObject(
  {
    output: { type: 'string', description: 'The words that are spoken.' },
    metadata: closedObject({
      provider: { type: 'string' },
      model: { type: 'string', description: 'The model that answered, as `provider:model`.' },
      durationSeconds: {
        type: 'number',
        description: 'The length of the audio: of the provider’s answer, or estimated from its size.',
      },
      usage: modelUsage,
      cost: { ...dollars, description: 'An estimate: the provider’s bill is exact.' },
      cached: { type: 'boolean' },
      latency: { type: 'integer', description: 'Milliseconds from the call to the answer.' },
      fallbackPath: { type: 'array', items: { type: 'string' }, description: 'The models that failed before.' },
    }),
  },
  {
    language: { type: 'string', description: 'The language that is spoken, where the model names it.' },
    segments: {
      type: 'array',
      items: closedObject({ start: seconds, end: seconds, text: { type: 'string' } }),
      description: 'The parts of the text with their times, of models that give them.',
    },
  },
)

export type TranscribeAudioOutput = Infer<typeof transcribeAudioOutput>
