import { usualDays } from '../../models/media.ts'
import {
  generateImageInput,
  generateImageOutput,
  type GenerateImageInput,
  type GenerateImageOutput,
} from '../../models/picture.ts'
import type { BotContext } from '../../rpc/caller.ts'
import { operation } from '../../rpc/operation.ts'
import { makeRecorded } from './make-recorded.ts'
import { answerOf, metered } from './metered.ts'
import { storeMedia } from './store-media.ts'

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
  changesNothing: true,
  input: generateImageInput,
  output: generateImageOutput,

  handle: (context, input) =>
    makeRecorded(context, input, {
      prompt: input.prompt,
      make: (context) => paint(context, input),
      addressOf: ({ output }) => output.imageUrl,
    }),
})

async function paint(context: BotContext, input: GenerateImageInput): Promise<GenerateImageOutput> {
  const { models, caller } = context
  const choice = models.chooseMedia('image', input.model)
  const call = { botId: caller.botId, input, choice, signal: context.callerGone?.() }
  const estimate = models.estimateImage(input, choice)
  const made = await answerOf(metered(context, estimate, (onAttempt) => models.paint({ ...call, onAttempt })))
  const { bytes, ...metadata } = made
  const { fileId, url } = await storeMedia(context, {
    bytes,
    contentType: `image/${metadata.format}`,
    extension: metadata.format === 'jpeg' ? 'jpg' : metadata.format,
    model: metadata.model,
    days: input.options?.expirationDays ?? usualDays,
  })
  return { output: { imageUrl: url }, metadata: { ...metadata, fileId } }
}
