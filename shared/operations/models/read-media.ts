import { ApiError } from '../../errors.ts'
import { contentSegmentOf, findContentAt } from '../../files/find-content.ts'
import { readObject } from '../../files/objects.ts'
import type { Choice } from '../../llm/choose-models.ts'
import { referToContent } from '../../llm/content-references.ts'
import type { GenerateTextInput, ModelMessage, ModelWarning } from '../../models/language-model.ts'
import type { BotContext } from '../../rpc/caller.ts'
import { megabyte } from '../../units.ts'

/** Upper bound of the files of one call, all messages together: above what providers take in a request. */
const maxBytes = 20 * megabyte

type Part = Extract<ModelMessage['content'], readonly unknown[]>[number]

/** A part that names a picture or audio, and where. */
interface Medium {
  part: Part
  url: string
  path: string
}

interface ReadMedia extends Disposable {
  input: GenerateTextInput
  /** Name the parts that are left out. */
  warnings: ModelWarning[]
}

/**
 * Has the pictures and the audio that messages name by addresses of the platform's own files sent by the platform, in place of having providers
 * fetch them: those may have no way to the platform, and endpoints of the operator fetch nothing.
 *
 * The published runtime of agents sends all messages of a conversation each time, and its users learn of no error: for its code, a part
 * that no model can have becomes a text that says so, the oldest ones beyond 20 MB first.
 *
 * @returns the input with data URLs that refer to these files, until it is disposed of
 * @throws ApiError `InvalidPayload` for more than 20 MB and for files of another type, and as `findContentAt`
 */
export async function readMedia(
  context: BotContext,
  { candidates }: Pick<Choice, 'candidates'>,
  input: GenerateTextInput,
): Promise<ReadMedia> {
  const isForAgent = isOfAgent(context)
  const isEndpointAlone = candidates.every(({ provider }) => provider.kind === 'compatible')
  using held = new DisposableStack()
  const find = openFinder(context, held)
  const replaced = new Map<Part, Part>()
  const warnings: ModelWarning[] = []
  for (const medium of mediaOf(input).toReversed()) {
    const { part, url } = medium
    try {
      const segment = contentSegmentOf(context.config, url)
      if (segment !== undefined) replaced.set(part, { ...part, url: await find(medium, segment) })
      else if (isForAgent) assertFetched(medium, isEndpointAlone)
    } catch (error) {
      if (!isForAgent || !isLasting(error)) throw error
      replaced.set(part, noteOf(part))
      warnings.push(warningOf(medium, error.message))
    }
  }
  const kept = held.move()
  return { input: withParts(input, replaced), warnings: warnings.toReversed(), [Symbol.dispose]: () => kept.dispose() }
}

/**
 * Leaves out all pictures and audio of a call of an agent that models refuse: they may see none, or not fetch one.
 *
 * @returns undefined for a call of other code, and for one without media
 */
export function withoutMedia(
  context: BotContext,
  input: GenerateTextInput,
  reason: string,
): Pick<ReadMedia, 'input' | 'warnings'> | undefined {
  const media = mediaOf(input)
  if (!isOfAgent(context) || media.length === 0) return undefined
  const notes = new Map(media.map(({ part }) => [part, noteOf(part)]))
  return { input: withParts(input, notes), warnings: media.map((medium) => warningOf(medium, reason)) }
}

function isOfAgent({ caller }: BotContext): boolean {
  return caller.execution?.isOfAgent === true
}

function noteOf({ type }: Part): Part {
  return { type: 'text', text: `[${type === 'image' ? 'A picture' : 'An audio file'} that cannot be read]` }
}

function warningOf({ path }: Medium, reason: string): ModelWarning {
  return { type: 'provider_limitation', message: `${path} is left out: ${reason}` }
}

function mediaOf({ messages }: GenerateTextInput): Medium[] {
  return messages.flatMap(({ content }, index) =>
    Array.isArray(content)
      ? content.flatMap((part, position) =>
          part.type === 'text' || part.url === undefined
            ? []
            : [{ part, url: part.url, path: `messages.${index}.content.${position}.url` }],
        )
      : [],
  )
}

/** @param held gets the references that it makes */
function openFinder(context: BotContext, held: DisposableStack) {
  let bytes = 0
  const known = new Map<string, { size: number; dataUrl: string }>()
  // The request has a file as often as messages name it.
  const count = (size: number, path: string) => {
    if (bytes + size > maxBytes) {
      throw new ApiError('InvalidPayload', `${path}: the files of a call have more than ${maxBytes / megabyte} MB`)
    }
    bytes += size
  }
  return async ({ part: { type }, url, path }: Medium, segment: string): Promise<string> => {
    const found = known.get(url)
    if (found) {
      count(found.size, path)
      return found.dataUrl
    }
    const { object, contentType } = await findContentAt(context, segment)
    const mediaType = contentType.split(';', 1)[0]!.trim().toLowerCase()
    if (!mediaType.startsWith(`${type}/`)) {
      throw new ApiError('InvalidPayload', `${path} must be that of a file of ${type}: it is of the type ${mediaType}`)
    }
    const { size } = object
    count(size, path)
    const { reference } = held.use(referToContent({ size, read: () => readObject(context, object) }))
    const dataUrl = `data:${mediaType};base64,${reference}`
    known.set(url, { size, dataUrl })
    return dataUrl
  }
}

/** @throws ApiError for a URL that neither the platform nor a provider reads */
function assertFetched({ part, url, path }: Medium, isEndpointAlone: boolean): void {
  const isForProvider = part.type === 'image' && !isEndpointAlone && /^https:/i.test(url)
  if (isForProvider || /^data:/i.test(url)) return
  throw new ApiError('InvalidPayload', `${path}: no model of the call reads this address`)
}

/** Whether the next call would meet the error too. */
function isLasting(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status < 500 && error.type !== 'RateLimited'
}

function withParts(input: GenerateTextInput, parts: ReadonlyMap<Part, Part>): GenerateTextInput {
  if (parts.size === 0) return input
  const messages = input.messages.map((message) => {
    if (!Array.isArray(message.content)) return message
    return { ...message, content: message.content.map((part) => parts.get(part) ?? part) }
  })
  return { ...input, messages }
}
