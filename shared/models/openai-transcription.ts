import { closedObject, type Infer } from '../schema.ts'
import { spokenLanguage } from './media.ts'

export const subtitleFormats = ['srt', 'vtt'] as const
export type SubtitleFormat = (typeof subtitleFormats)[number]

const text = { type: 'string' } as const
const seconds = { type: 'number' } as const
const number = { type: 'number' } as const

/** A request of OpenAI's Audio API, with the fields that models of several providers have. */
export const openAiTranscriptionInput = closedObject(
  {
    file: { description: 'The audio. At most 25 MB.' },
    model: {
      type: 'string',
      minLength: 1,
      maxLength: 300,
      description: '`provider:model` or `auto`; a name without a provider is a model of OpenAI.',
    },
  },
  {
    language: spokenLanguage,
    prompt: { type: 'string', maxLength: 4000 },
    temperature: { type: 'number', minimum: 0, maximum: 1 },
    response_format: {
      enum: ['json', 'text', 'verbose_json', ...subtitleFormats],
      description:
        '`verbose_json` has the times of the segments, of models that give them; `srt` and `vtt` are subtitles, of those alone.',
    },
    stream: { enum: ['false'], description: 'Transcripts are not streamed.' },
  },
)

export type OpenAiTranscriptionInput = Infer<typeof openAiTranscriptionInput>

/** Libraries require all fields. The platform knows none of a model's inner ones, and gives 0 for them. */
const segment = closedObject({
  id: { type: 'integer' },
  start: seconds,
  end: seconds,
  text,
  seek: number,
  tokens: { type: 'array', items: number },
  temperature: number,
  avg_logprob: number,
  compression_ratio: number,
  no_speech_prob: number,
})

/** The fields of a segment that are not known. */
export const unknownSegmentFields = {
  seek: 0,
  tokens: [],
  temperature: 0,
  avg_logprob: 0,
  compression_ratio: 0,
  no_speech_prob: 0,
}

/** A text with the `response_format`s of texts. */
export const openAiTranscription = {
  oneOf: [
    closedObject(
      { text },
      {
        task: { const: 'transcribe' },
        language: text,
        duration: seconds,
        segments: {
          type: 'array',
          items: segment,
        },
        usage: closedObject({ type: { const: 'duration' }, seconds }),
      },
    ),
    text,
  ],
} as const

export type OpenAiTranscription = Infer<typeof openAiTranscription>
