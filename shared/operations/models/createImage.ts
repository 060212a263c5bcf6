import { buffer } from 'node:stream/consumers'
import { ApiError } from '../../errors.ts'
import { findReferenced } from '../../files/find-content.ts'
import { readObject } from '../../files/objects.ts'
import { fullName } from '../../llm/library-wire.ts'
import { openAiImage, openAiImageInput, type OpenAiImageInput } from '../../models/openai-image.ts'
import type { GenerateImageInput, GenerateImageOutput } from '../../models/picture.ts'
import type { BotContext } from '../../rpc/caller.ts'
import { operation } from '../../rpc/operation.ts'
import { megabyte } from '../../units.ts'
import { paintRecorded } from './paint-recorded.ts'
import { contentOf, daysOfContent } from './store-media.ts'

/** The largest picture that code gets in the answer: in base64, it is what a call of code may answer. */
const maxBytesForCode = 5.5 * megabyte

export const createImage = operation({
  name: 'createImage',
  description:
    'Like generateImage, in the language of OpenAI’s Images API, for libraries that take a base URL: ' +
    '`/v2/cognitive/openai/v1`.',
  method: 'POST',
  path: '/v2/cognitive/openai/v1/images/generations',
  access: 'bot',
  stability: 'experimental',
  errors: ['Runtime', 'ReferenceNotFound', 'PaymentRequired', 'RateLimited', 'QuotaExceeded', 'LimitExceeded'],
  isForLibraries: true,
  awaitsWorker: true,
  isRecordedByInput: true,
  input: openAiImageInput,
  output: openAiImage,

  async handle(context, body) {
    const { output, metadata } = await paintRecorded(context, body, toInput(body))
    const { size, quality, format, usage } = metadata
    return {
      created: Math.floor(Date.now() / 1000),
      data: [
        body.response_format === 'url' ? { url: output.imageUrl } : { b64_json: await readPicture(context, metadata) },
      ],
      size,
      quality,
      output_format: format,
      usage: {
        input_tokens: usage.inputTokens,
        output_tokens: usage.outputTokens,
        total_tokens: usage.inputTokens + usage.outputTokens,
        input_tokens_details: { text_tokens: usage.inputTokens, image_tokens: 0 },
      },
    }
  },
})

const qualities = { standard: 'medium', hd: 'high' } as const

function toInput(body: OpenAiImageInput): GenerateImageInput {
  const { prompt, model, size, quality, output_format: format, response_format: answer } = body
  return {
    prompt,
    model: fullName(model ?? 'auto', 'openai'),
    ...(size != null && size !== 'auto' && { size }),
    ...(quality != null && { quality: quality === 'standard' || quality === 'hd' ? qualities[quality] : quality }),
    ...(format != null && { format }),
    ...(answer !== 'url' && { options: { expirationDays: daysOfContent } }),
  }
}

/** A picture in base64, from its file: a repeated run has no other. */
async function readPicture(context: BotContext, metadata: GenerateImageOutput['metadata']): Promise<string> {
  const { db, models, caller } = context
  const { object } = await findReferenced(db, contentOf(metadata))
  if (caller.execution && object.size > maxBytesForCode) throw tooLarge(object.size)
  using memory = models.mediaMemory.open(caller.botId)
  memory.add(object.size)
  context.holdAnswer?.(Math.ceil(object.size * (4 / 3)))
  return (await buffer(readObject(context, object))).toString('base64')
}

function tooLarge(bytes: number): ApiError {
  return new ApiError(
    'LimitExceeded',
    `The picture has ${(bytes / megabyte).toFixed(1)} MB, and an answer to code at most ${maxBytesForCode / megabyte} MB of it: ` +
      "ask for its address, with response_format 'url', or for a smaller size",
  )
}
