import { generateAudioInput, generateAudioOutput } from '../../models/speech.ts'
import { operation } from '../../rpc/operation.ts'
import { speakRecorded } from './speak-recorded.ts'

export const generateAudio = operation({
  name: 'generateAudio',
  description:
    'Has a model speak a text; the audio becomes a public file of the bot. Models are tried in order until one answers.',
  method: 'POST',
  path: '/v2/cognitive/generate-audio',
  access: 'bot',
  stability: 'experimental',
  errors: ['Runtime', 'ReferenceNotFound', 'PaymentRequired', 'RateLimited', 'QuotaExceeded'],
  awaitsWorker: true,
  isRecordedByInput: true,
  input: generateAudioInput,
  output: generateAudioOutput,

  async handle(context, input) {
    const { url, metadata } = await speakRecorded(context, input, input)
    return { output: { audioUrl: url }, metadata: { ...metadata, characterCount: input.input.length } }
  },
})
