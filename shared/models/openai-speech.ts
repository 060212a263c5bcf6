import { closedObject } from '../schema.ts'
import { audioFormats, maxSpokenCharacters } from './speech.ts'

const voice = { type: 'string', minLength: 1, maxLength: 100 } as const

/** A request of OpenAI's Audio API for speech. */
export const openAiSpeechInput = closedObject(
  {
    input: { type: 'string', minLength: 1, maxLength: maxSpokenCharacters },
    model: {
      type: 'string',
      minLength: 1,
      maxLength: 300,
      description: '`provider:model` or `auto`; a name without a provider is a model of OpenAI.',
    },
  },
  {
    voice: {
      oneOf: [voice, closedObject({ id: voice })],
      description: 'One of `listVoices`; a usual one unless given.',
    },
    response_format: {
      enum: audioFormats,
      description:
        '`mp3` unless given. The answer’s `content-type` says which it is: models of Google make `wav` only.',
    },
    speed: { type: 'number', minimum: 0.25, maximum: 4 },
    instructions: { type: 'string', maxLength: 4000 },
    stream_format: { enum: ['audio'], description: 'There are no server-sent events.' },
  },
)
