import { generateImageInput, generateImageOutput } from '../../models/picture.ts'
import { operation } from '../../rpc/operation.ts'
import { paintRecorded } from './paint-recorded.ts'

export const generateImage = operation({
  name: 'generateImage',
  description:
    'Asks a model for a picture, which becomes a public file of the bot. Models are tried in order until one answers.',
  method: 'POST',
  path: '/v2/cognitive/generate-image',
  access: 'bot',
  stability: 'experimental',
  errors: ['Runtime', 'ReferenceNotFound', 'PaymentRequired', 'RateLimited', 'QuotaExceeded'],
  awaitsWorker: true,
  isRecordedByInput: true,
  input: generateImageInput,
  output: generateImageOutput,

  handle: (context, input) => paintRecorded(context, input, input),
})
