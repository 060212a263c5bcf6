import type { ImageModelV4CallOptions, ImageModelV4Result } from '@ai-sdk/provider'
import type { ModelUsage } from '../models/language-model.ts'
import type { GenerateImageInput, PictureFormat } from '../models/picture.ts'
import type { Candidate } from './choose-models.ts'
import { tokensOfText } from './estimate.ts'
import { believedTokens, countOf, warningsOf } from './from-result.ts'
import type { HoldBytes, ModelContent } from './made-content.ts'
import { picturePriceOf, pictureSizes, qualities, type Quality } from './media-catalogue.ts'
import { MalformedAnswerError } from './model-failure.ts'
import { orAborted, type ModelRequest } from './provider-calls.ts'
import { wholeRequest } from './whole-request.ts'

export interface PictureFacts {
  format: PictureFormat
  size: string
  quality: string
}

/** The tokens of a square picture of high quality, where a provider reports none. */
const tokensOfPicture = 4160

/** Makes the request for a picture to a model. @param hold as of `MediaCall` */
export function imageRequest(
  input: GenerateImageInput,
  candidate: Candidate,
  hold: HoldBytes,
): ModelRequest<never, ModelContent<PictureFacts>> {
  return wholeRequest({
    async send(provider, { signal, abortSignal }) {
      const opened = await provider.image(candidate.model, (_part, bytes) => hold(bytes))
      const result = await orAborted(opened.doGenerate({ ...optionsOf(input, candidate), abortSignal }), signal)
      const [image] = result.images
      if (image === undefined) throw new MalformedAnswerError('The answer has no picture')
      const bytes = typeof image === 'string' ? Buffer.from(image, 'base64') : image
      const format = formatOf(bytes)
      if (format === undefined) throw new MalformedAnswerError('The answer is no picture in PNG, JPEG or WebP')
      const { size = input.size ?? 'auto', quality = input.quality ?? 'auto' } = reportOf(result)
      const usage = usageOf({ prompt: input.prompt, size, quality }, candidate, result.usage)
      return { bytes, facts: { format, size, quality }, warnings: warningsOf(result.warnings), usage }
    },
    billed: () => expectedPicture(input, candidate),
  })
}

/** The usage that a call is assumed to have with a model. */
export function expectedPicture(
  { prompt, size = 'auto', quality }: GenerateImageInput,
  candidate: Candidate,
): ModelUsage {
  return usageOf({ prompt, size, quality }, candidate)
}

/** A picture is paid for as a whole; the tokens are for budgets in tokens. */
function usageOf(
  { prompt, size, quality }: { prompt: string; size: string; quality: string | undefined },
  { provider, model }: Candidate,
  reported?: ImageModelV4Result['usage'],
): ModelUsage {
  const known = qualities.find((each) => each === quality) ?? 'auto'
  const price = picturePriceOf(provider.kind, model, { quality: known, isSquare: isSquare(size) })
  return {
    inputTokens: countOf(believedTokens(reported?.inputTokens) ?? tokensOfText(prompt)),
    inputCost: 0,
    outputTokens: countOf(believedTokens(reported?.outputTokens) ?? tokensOfPicture),
    outputCost: price,
  }
}

function isSquare(size: string): boolean | undefined {
  const sides = sidesOf(size)
  return sides && sides[0] === sides[1]
}

function sidesOf(size: string): [width: number, height: number] | undefined {
  const [, width, height] = /^(\d+)[x:](\d+)$/.exec(size) ?? []
  return width === undefined ? undefined : [Number(width), Number(height)]
}

type CallOptions = Omit<ImageModelV4CallOptions, 'abortSignal'>

/** The ratios of Google's models. */
const ratios = ['1:1', '3:2', '2:3', '4:3', '3:4', '5:4', '4:5', '16:9', '9:16', '21:9'] as const

function optionsOf({ prompt, size, quality, format }: GenerateImageInput, { provider }: Candidate): CallOptions {
  const ofOpenAi = { ...(quality !== undefined && { quality }), ...(format !== undefined && { outputFormat: format }) }
  const isGoogle = provider.kind === 'google'
  return {
    prompt,
    n: 1,
    size: isGoogle || size === undefined ? undefined : toPixels(size),
    aspectRatio: isGoogle && size !== undefined ? nearest(ratios, size) : undefined,
    seed: undefined,
    files: undefined,
    mask: undefined,
    providerOptions: isGoogle ? {} : { openai: ofOpenAi },
  }
}

function toPixels(size: string): `${number}x${number}` {
  return size.includes('x') ? (size as `${number}x${number}`) : nearest(pictureSizes, size)
}

/** The one of some shapes that is nearest to a size. */
function nearest<Shape extends string>(shapes: readonly Shape[], size: string): Shape {
  const wanted = logRatioOf(size)
  const distance = (shape: Shape) => Math.abs(logRatioOf(shape) - wanted)
  return shapes.reduce((best, shape) => (distance(shape) < distance(best) ? shape : best))
}

function logRatioOf(shape: string): number {
  const [width, height] = sidesOf(shape)!
  return Math.log(width / height)
}

/** The size and the quality that OpenAI's models report. */
function reportOf({ providerMetadata }: ImageModelV4Result): { size?: string; quality?: Quality } {
  const [report] = (providerMetadata?.['openai']?.images ?? []) as ({ size?: unknown; quality?: unknown } | null)[]
  const size = typeof report?.size === 'string' && sidesOf(report.size) ? report.size : undefined
  const quality = qualities.find((each) => each === report?.quality)
  return { ...(size !== undefined && { size }), ...(quality !== undefined && { quality }) }
}

const signatures: [format: PictureFormat, offset: number, bytes: string][] = [
  ['png', 0, '\x89PNG\r\n\x1a\n'],
  ['jpeg', 0, '\xff\xd8\xff'],
  ['webp', 8, 'WEBP'],
]

/** The format of a picture by its first bytes: the file is served to browsers. */
function formatOf(bytes: Uint8Array): PictureFormat | undefined {
  const begin = Buffer.from(bytes.subarray(0, 16)).toString('latin1')
  return signatures.find(([, offset, signature]) => begin.startsWith(signature, offset))?.[0]
}
