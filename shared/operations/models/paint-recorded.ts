import { usualDays } from '../../models/media.ts'
import type { GenerateImageInput, GenerateImageOutput } from '../../models/picture.ts'
import type { BotContext } from '../../rpc/caller.ts'
import { makeRecorded } from './make-recorded.ts'
import { answerOf, metered } from './metered.ts'
import { storeMedia } from './store-media.ts'

/**
 * Has a picture made, as `makeRecorded`.
 *
 * @param call the input of the operation, which the journal compares
 */
export function paintRecorded(
  context: BotContext,
  call: unknown,
  input: GenerateImageInput,
): Promise<GenerateImageOutput> {
  return makeRecorded(context, call, {
    prompt: input.prompt,
    make: (own) => paint(own, input),
    addressOf: ({ output }) => output.imageUrl,
  })
}

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
