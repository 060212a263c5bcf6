import type { GenerateImageInput, GenerateImageOutput } from '../../models/picture.ts'
import type { BotContext } from '../../rpc/caller.ts'
import { makeRecorded } from './make-recorded.ts'

/**
 * Has a picture made, as `makeRecorded`.
 *
 * @param call the input of the operation, which the journal compares
 */
export async function paintRecorded(
  context: BotContext,
  call: unknown,
  input: GenerateImageInput,
): Promise<GenerateImageOutput> {
  const { url, metadata } = await makeRecorded(context, call, {
    use: 'image',
    model: input.model,
    prompt: input.prompt,
    days: input.options?.expirationDays,
    estimate: (models, choice) => models.estimateImage(input, choice),
    ask: (models, request) => models.paint({ ...request, input }),
  })
  return { output: { imageUrl: url }, metadata }
}
