import { ApiError } from '../../errors.ts'
import { fullName } from '../../llm/library-wire.ts'
import { toSubtitles } from '../../llm/subtitles.ts'
import type { TranscribeAudioOutput } from '../../models/audio-transcript.ts'
import {
  openAiTranscription,
  openAiTranscriptionInput,
  subtitleFormats,
  unknownSegmentFields,
  type OpenAiTranscription,
  type OpenAiTranscriptionInput,
  type SubtitleFormat,
} from '../../models/openai-transcription.ts'
import { FormFile } from '../../rpc/form-file.ts'
import { operation } from '../../rpc/operation.ts'
import { megabyte } from '../../units.ts'
import { noTimes, transcribeRecorded } from './transcribe-recorded.ts'

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
    const needsSegments = isOfSubtitles(format)
    const transcript = await transcribeRecorded(context, input, {
      source: file,
      model: fullName(model, 'openai'),
      language,
      prompt,
      temperature,
      wantsSegments: needsSegments || format === 'verbose_json',
      needsSegments,
    })
    return toAnswer(transcript, format)
  },
})

function isOfSubtitles(format: string | undefined): format is SubtitleFormat {
  return (subtitleFormats as readonly (string | undefined)[]).includes(format)
}

function toAnswer(
  { output: text, language = 'unknown', segments = [], metadata }: TranscribeAudioOutput,
  format: OpenAiTranscriptionInput['response_format'] = 'json',
): OpenAiTranscription {
  if (format === 'text') return text
  if (isOfSubtitles(format)) {
    if (segments.length === 0 && text.trim() !== '') throw noTimes(metadata.model)
    return toSubtitles(segments, format)
  }
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
