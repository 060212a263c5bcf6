import { buffer } from 'node:stream/consumers'
import { ApiError } from '../../errors.ts'
import { contentSegmentOf, findContentAt } from '../../files/find-content.ts'
import { readObject } from '../../files/objects.ts'
import { lookup } from 'mime-types'
import type { AudioContent } from '../../llm/transcript-request.ts'
import type { BotContext } from '../../rpc/caller.ts'
import { FormFile } from '../../rpc/form-file.ts'
import { megabyte } from '../../units.ts'

/** Upper bound of an audio file: that of the providers. */
const maxAudioBytes = 25 * megabyte

/** The media types that providers transcribe; some containers of films hold audio alone. */
const audioTypes = /^(audio\/[\w.+-]+|video\/(mp4|webm|mpeg)|application\/ogg)$/

/**
 * Reads the audio at an address that the caller names, or of a form, and counts its memory until it is disposed of. The platform requests no
 * address itself: it reads its own files, and what the requests of the caller's code may reach.
 *
 * @throws ApiError `InvalidPayload` for another kind of address, `LimitExceeded` beyond 25 MB, `RateLimited` when the memory for
 *   audio is in use
 */
export async function readAudio(
  context: BotContext,
  source: string | FormFile,
  mimeType?: string,
): Promise<AudioContent & Disposable> {
  using held = new DisposableStack()
  const share = held.use(context.models.mediaMemory.open(context.caller.botId))
  const { bytes, mediaType } = await read(context, source, (size) => {
    if (size > maxAudioBytes) throw tooLarge()
    share.add(size)
  })
  if (bytes.byteLength === 0) throw new ApiError('InvalidPayload', 'The audio is empty')
  const type = audioTypeOf(mimeType ?? mediaType)
  const kept = held.move()
  return { bytes, mediaType: type, [Symbol.dispose]: () => kept.dispose() }
}

/** @param hold counts the bytes, before they are read where their number is known */
async function read(
  context: BotContext,
  source: string | FormFile,
  hold: (bytes: number) => void,
): Promise<{ bytes: Uint8Array; mediaType: string | undefined }> {
  if (typeof source === 'string') return readAt(context, source, hold)
  hold(source.bytes.byteLength)
  return { bytes: source.bytes, mediaType: typeOf(source) }
}

/** Libraries send files of an unknown type as one of bytes, with their name. */
function typeOf({ name, mediaType }: FormFile): string | undefined {
  const isKnown = mediaType !== '' && mediaType !== 'application/octet-stream'
  return isKnown ? mediaType : lookup(name) || undefined
}

async function readAt(
  context: BotContext,
  url: string,
  hold: (bytes: number) => void,
): Promise<{ bytes: Uint8Array; mediaType: string | undefined }> {
  if (/^data:/i.test(url)) {
    hold(Math.ceil(url.length * 0.75))
    return dataOf(url)
  }
  const file = contentSegmentOf(context.config, url)
  if (file !== undefined) {
    const { object, contentType } = await findContentAt(context, file)
    hold(object.size)
    return { bytes: await buffer(readObject(context, object)), mediaType: contentType.split(';', 1)[0]!.trim() }
  }
  const protocol = URL.parse(url)?.protocol
  if (protocol !== 'https:' && protocol !== 'http:') throw noAudio()
  if (!context.fetchForCaller) throw noAudio()
  const fetched = await context.fetchForCaller(url)
  hold(fetched.bytes.byteLength)
  return fetched
}

function dataOf(url: string): { bytes: Uint8Array; mediaType: string | undefined } {
  const comma = url.indexOf(',')
  const [, mediaType] =
    /^data:([\w.+-]+\/[\w.+-]+)?(?:;[\w.+-]+=[\w.+-]+)*;base64$/i.exec(url.slice(0, Math.min(comma, 300))) ?? []
  const data = url.slice(comma + 1)
  if (comma === -1 || mediaType === undefined || !/^[A-Za-z0-9+/]*={0,2}$/.test(data)) {
    throw new ApiError('InvalidPayload', 'url must be a data URL with a media type and base64')
  }
  return { bytes: Buffer.from(data, 'base64'), mediaType }
}

function audioTypeOf(mediaType: string | undefined): string {
  const type = mediaType?.toLowerCase()
  if (type !== undefined && audioTypes.test(type)) return type
  throw new ApiError(
    'InvalidPayload',
    `The media type ${type === undefined ? 'is unknown' : `${type} is none of audio`}: give that of the file, for instance audio/mpeg, as mimeType or in the form`,
  )
}

function noAudio(): ApiError {
  return new ApiError(
    'InvalidPayload',
    'url must be a data URL in base64 or the url of a file of the platform: upload the file first. In bot code it may also be an ' +
      'address on a granted host',
  )
}

function tooLarge(): ApiError {
  return new ApiError(
    'LimitExceeded',
    `The audio has more than ${maxAudioBytes / megabyte} MB, the maximum: compress it, or send it in parts`,
  )
}
