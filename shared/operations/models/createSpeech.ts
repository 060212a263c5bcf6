import { fileReference } from '../../files/find-content.ts'
import { fullName } from '../../llm/library-wire.ts'
import { openAiSpeechInput } from '../../models/openai-speech.ts'
import { operation } from '../../rpc/operation.ts'
import { speakRecorded } from './speak-recorded.ts'
import { contentOf, daysOfContent } from './store-media.ts'

export const createSpeech = operation({
  name: 'createSpeech',
  description:
    'Like generateAudio, in the language of OpenAI’s Audio API, for libraries that take a base URL: ' +
    '`/v2/cognitive/openai/v1`. The answer is the audio itself.',
  method: 'POST',
  path: '/v2/cognitive/openai/v1/audio/speech',
  access: 'bot',
  stability: 'experimental',
  errors: ['Runtime', 'ReferenceNotFound', 'PaymentRequired', 'RateLimited', 'QuotaExceeded'],
  answersWithFile: true,
  isForLibraries: true,
  awaitsWorker: true,
  isRecordedByInput: true,
  input: openAiSpeechInput,
  output: fileReference,

  async handle(context, body) {
    const { input, model, voice, response_format: format, speed, instructions } = body
    const { metadata } = await speakRecorded(context, body, {
      input,
      model: fullName(model, 'openai'),
      ...(voice !== undefined && { voice: typeof voice === 'string' ? voice : voice.id }),
      ...(format !== undefined && { format }),
      ...(speed !== undefined && { speed }),
      ...(instructions !== undefined && { instructions }),
      options: { expirationDays: daysOfContent },
    })
    return contentOf(metadata)
  },
})
