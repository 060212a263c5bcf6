import { transcribeAudioInput, transcribeAudioOutput } from '../../models/audio-transcript.ts'
import { operation } from '../../rpc/operation.ts'
import { transcribeRecorded } from './transcribe-recorded.ts'

export const transcribeAudio = operation({
  name: 'transcribeAudio',
  description:
    'Asks a model for the words that are spoken in an audio file. Models are tried in order until one answers.',
  method: 'POST',
  path: '/v2/cognitive/transcribe-audio',
  access: 'bot',
  stability: 'experimental',
  errors: ['Runtime', 'ReferenceNotFound', 'PaymentRequired', 'RateLimited', 'LimitExceeded'],
  awaitsWorker: true,
  isRecordedByInput: true,
  changesNothing: true,
  input: transcribeAudioInput,
  output: transcribeAudioOutput,

  handle: (context, input) => {
    const { url: source, ...others } = input
    return transcribeRecorded(context, input, { source, ...others })
  },
})
