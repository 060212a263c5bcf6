import { closedObject, type Infer } from '../schema.ts'
import { expirationOptions, mediaMetadata, mediaModel, spokenLanguage } from './media.ts'

const text = { type: 'string' } as const

/** Upper bound of a text that is spoken: that of the providers. */
export const maxSpokenCharacters = 4096

export const audioFormats = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const
export type AudioFormat = (typeof audioFormats)[number]

export const generateAudioInput = closedObject(
  { input: { type: 'string', minLength: 1, maxLength: maxSpokenCharacters, description: 'The text that is spoken.' } },
  {
    model: mediaModel,
    voice: {
      type: 'string',
      minLength: 1,
      maxLength: 100,
      description: 'One of `listVoices`; a usual one unless given.',
    },
    format: { enum: audioFormats, description: '`mp3` unless given; models of Google make `wav` only.' },
    speed: { type: 'number', minimum: 0.25, maximum: 4 },
    instructions: { type: 'string', maxLength: 4000, description: 'How it is spoken, of models that take it.' },
    language: spokenLanguage,
    options: expirationOptions,
  },
)

export type GenerateAudioInput = Infer<typeof generateAudioInput>

export const generateAudioOutput = closedObject({
  output: closedObject({
    audioUrl: { type: 'string', description: 'Everybody who has it can listen, until the file expires.' },
  }),
  metadata: mediaMetadata({
    voice: text,
    format: { enum: audioFormats },
    characterCount: { type: 'integer' },
  }),
})

/** The audio of all chunks in order is that of the file. */
export const generateAudioChunk = closedObject(
  { finished: { type: 'boolean', description: 'Whether it is the last chunk.' } },
  {
    audio: { type: 'string', description: 'The next bytes of the audio in base64; absent from the last chunk.' },
    audioUrl: {
      type: 'string',
      nullable: true,
      description: 'Of the last chunk, as of `generateAudio`; null where the model failed within.',
    },
    metadata: generateAudioOutput.properties.metadata,
    error: { type: 'string', description: 'The reason for which there is no whole audio.' },
  },
)

export type GenerateAudioChunk = Infer<typeof generateAudioChunk>

export const voice = closedObject(
  {
    id: text,
    displayName: text,
    provider: text,
    models: { type: 'array', items: text, description: 'As `provider:model`.' },
  },
  { description: text },
)

export type Voice = Infer<typeof voice>
