import { ApiError } from '../../errors.ts'
import { fullName } from '../../llm/library-wire.ts'
import type { TranscribeAudioOutput } from '../../models/audio-transcript.ts'
import {
  openAiTranscription,
  openAiTranscriptionInput,
  unknownSegmentFields,
  type OpenAiTranscription,
  type OpenAiTranscriptionInput,
} from '../../models/openai-transcription.ts'
import { FormFile } from '../../rpc/form-file.ts'
import { operation } from '../../rpc/operation.ts'
import { megabyte } from '../../units.ts'
import { transcribeRecorded } from './transcribe-recorded.ts'

/** The largest audio, and the other fields. */
const maxFormBytes = 26 * megabyte

export const createTranscription = operation({
  name: 'createTranscription',
  description:
    'Like transcribeAudio, in the language of OpenAI’s Audio API, for libraries that take a base URL: ' +
    '`/v2/cognitive/openai/v1`. The body is a form.',
  method: 'POST',
  path: '/v2/cognitive/openai/v1/audio/transcriptions',
  access: 'bot',
  stability: 'experimental',
  errors: ['Runtime', 'ReferenceNotFound', 'PaymentRequired', 'RateLimited', 'LimitExceeded'],
  form: { fileField: 'file', maxBytes: maxFormBytes },
  isForLibraries: true,
  awaitsWorker: true,
  isRecordedByInput: true,
  changesNothing: true,
  input: openAiTranscriptionInput,
  output: openAiTranscription,

  async handle(context, input) {
    const { file, model, language, prompt, temperature, response_format: format } = input
    if (!(file instanceof FormFile)) throw new ApiError('InvalidPayload', 'file must be a file, with a file name')
    const transcript = await transcribeRecorded(context, input, {
      source: file,
      model: fullName(model, 'openai'),
      language,
      prompt,
      temperature,
      wantsSegments: format === 'verbose_json',
    })
    return toAnswer(transcript, format)
  },
})

function toAnswer(
  { output: text, language = 'unknown', segments = [], metadata }: TranscribeAudioOutput,
  format: OpenAiTranscriptionInput['response_format'] = 'json',
): OpenAiTranscription {
  if (format === 'text') return text
  const usage = { type: 'duration', seconds: metadata.durationSeconds } as const
  if (format === 'json') return { text, usage }
  return {
    task: 'transcribe',
    language,
    duration: metadata.durationSeconds,
    text,
    segments: segments.map((segment, id) => ({ id, ...segment, ...unknownSegmentFields })),
    usage,
  }
}
