import { buffer } from 'node:stream/consumers'
import { ApiError } from '../../errors.ts'
import { contentSegmentOf, findContentAt } from '../../files/find-content.ts'
import { readObject } from '../../files/objects.ts'
import type { GenerateTextInput } from '../../models/language-model.ts'
import type { BotContext } from '../../rpc/caller.ts'
import { megabyte } from '../../units.ts'

/** Upper bound of the files of one call, all messages together: above what providers take in a request. */
const maxBytes = 20 * megabyte
/** The memory that a byte of a file takes: as base64, and in the body of the request. */
const bytesHeld = 3

/**
 * Reads the pictures and the audio that messages name by addresses of the platform's own files, in place of the providers: those may
 * have no way to the platform, and endpoints of the operator fetch nothing.
 *
 * @returns the input with these files as data URLs, whose memory is counted until it is disposed of
 * @throws ApiError `InvalidPayload` for more than 20 MB and for files of another type, `RateLimited` when the memory is in use, and as
 *   `findContentAt`
 */
export async function readMedia(
  context: BotContext,
  input: GenerateTextInput,
): Promise<{ input: GenerateTextInput } & Disposable> {
  using held = new DisposableStack()
  const share = held.use(context.models.mediaMemory.open(context.caller.botId))
  let bytes = 0
  const hold = (size: number, path: string) => {
    bytes += size
    if (bytes > maxBytes) {
      throw new ApiError('InvalidPayload', `${path}: the files of a call have more than ${maxBytes / megabyte} MB`)
    }
    share.add(size * bytesHeld)
  }
  const sizes = new Map<string, number>()
  const read = new Map<string, string>()
  for (const [index, { content }] of input.messages.entries()) {
    if (!Array.isArray(content)) continue
    for (const [position, { type, url }] of content.entries()) {
      const segment = type === 'text' || url === undefined ? undefined : contentSegmentOf(context.config, url)
      if (segment === undefined || url === undefined) continue
      const path = `messages.${index}.content.${position}.url`
      // The request has a file as often as messages name it.
      const known = sizes.get(url)
      if (known !== undefined) {
        hold(known, path)
        continue
      }
      const { object, contentType } = await findContentAt(context, segment)
      const mediaType = contentType.split(';', 1)[0]!.trim().toLowerCase()
      if (!mediaType.startsWith(`${type}/`)) {
        throw new ApiError(
          'InvalidPayload',
          `${path} must be that of a file of ${type}: it is of the type ${mediaType}`,
        )
      }
      hold(object.size, path)
      sizes.set(url, object.size)
      const data = await buffer(readObject(context, object))
      read.set(url, `data:${mediaType};base64,${data.toString('base64')}`)
    }
  }
  const kept = held.move()
  return { input: read.size > 0 ? withUrls(input, read) : input, [Symbol.dispose]: () => kept.dispose() }
}

function withUrls(input: GenerateTextInput, urls: ReadonlyMap<string, string>): GenerateTextInput {
  const messages = input.messages.map((message) => {
    if (!Array.isArray(message.content)) return message
    const content = message.content.map((part) => {
      const url = part.type === 'text' || part.url === undefined ? undefined : urls.get(part.url)
      return url === undefined ? part : { ...part, url }
    })
    return { ...message, content }
  })
  return { ...input, messages }
}
