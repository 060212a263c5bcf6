import { findReferenced } from '../../files/find-content.ts'
import { readObject } from '../../files/objects.ts'
import type { MediaUse } from '../../config/models-settings.ts'
import type { Choice } from '../../llm/choose-models.ts'
import type { Gateway, MediaCall } from '../../llm/gateway.ts'
import type { MadeContent } from '../../llm/made-content.ts'
import { holdGrowing } from '../../llm/media-memory.ts'
import { usualDays } from '../../models/media.ts'
import type { ModelUsage } from '../../models/language-model.ts'
import type { BotContext } from '../../rpc/caller.ts'
import { recordPaidStream } from '../../rpc/journal.ts'
import { megabyte } from '../../units.ts'
import { bounded } from './call-text.ts'
import { answerOf, metered } from './metered.ts'
import { withOwnModels } from './own-models.ts'
import { recordCall } from './record-call.ts'
import { reportCall, reportFailure } from './report-call.ts'
import { assertRoom, contentOf, storeMedia, type MediaFormat } from './store-media.ts'

/** The memory of a usual picture or audio file, which is counted before its size is known. */
const expectedBytes = 4 * megabyte

/** The fact about a content that its file needs. */
interface ContentFacts {
  format: MediaFormat
}

export interface Making<Piece, Facts extends ContentFacts> {
  use: MediaUse
  /** Its models, in order of fallback. */
  model: string | readonly string[] | undefined
  prompt: string
  /** Days for which the file is kept. */
  days: number | undefined
  estimate(models: Gateway, choice: Choice): ModelUsage
  ask(models: Gateway, call: MediaCall): AsyncGenerator<Piece, MadeContent<Facts>, void>
}

/** The address of the file, and the metadata of the call. */
export interface MadeFile<Facts extends ContentFacts> {
  url: string
  metadata: MadeContent<Facts>['metadata'] & { fileId: string }
}

/**
 * Has a model make a file, once in an event, within the budgets and the bot's quotas, and adds the call to the event's timeline.
 *
 * @param call the input of the operation, which the journal compares
 * @throws ApiError as `metered`, `QuotaExceeded`, and when there is no model
 */
export async function makeRecorded<Facts extends ContentFacts>(
  given: BotContext,
  call: unknown,
  making: Making<unknown, Facts>,
): Promise<MadeFile<Facts>> {
  const context = await withOwnModels(given)
  return recordCall(context, call, {
    make: () => answerOf(makeFile(context, making, context.callerGone?.())),
    prompt: () => bounded(making.prompt),
    answerOf: ({ url }) => url,
  })
}

/**
 * Like `makeRecorded`, for a content that comes in pieces: those of the model, or those of the file where an earlier run has recorded it.
 *
 * @param signal ends the call
 */
export async function makeStreamed<Facts extends ContentFacts>(
  given: BotContext,
  call: unknown,
  { making, signal }: { making: Making<Uint8Array, Facts>; signal: AbortSignal },
): Promise<AsyncGenerator<Uint8Array, MadeFile<Facts>, void>> {
  const context = await withOwnModels(given)
  const stream = await recordPaidStream(context, call, context.models.unrecorded, () =>
    makeFile(context, making, signal),
  )
  const isReplayed = 'recorded' in stream
  const pieces = isReplayed ? replayed(context, stream.recorded) : stream.pieces
  return reported(context, pieces, { prompt: bounded(making.prompt), isReplayed })
}

/** Adds the call to the timeline at its end. */
async function* reported<Facts extends ContentFacts>(
  context: BotContext,
  pieces: AsyncGenerator<Uint8Array, MadeFile<Facts>, void>,
  { prompt, isReplayed }: { prompt: string; isReplayed: boolean },
): AsyncGenerator<Uint8Array, MadeFile<Facts>, void> {
  try {
    const made = yield* pieces
    const contents = () => ({ prompt, answer: made.url })
    await reportCall(context, { metadata: made.metadata, isReplayed, contents })
    return made
  } catch (error) {
    await reportFailure(context, () => prompt, error)
    throw error
  }
}

async function* replayed<Facts extends ContentFacts>(
  context: BotContext,
  made: MadeFile<Facts>,
): AsyncGenerator<Uint8Array, MadeFile<Facts>, void> {
  const { object } = await findReferenced(context.db, contentOf(made.metadata))
  yield* readObject(context, object) as AsyncIterable<Uint8Array>
  return made
}

async function* makeFile<Piece, Facts extends ContentFacts>(
  context: BotContext,
  { use, model, days = usualDays, estimate, ask }: Making<Piece, Facts>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Piece, MadeFile<Facts>, void> {
  const { models, caller } = context
  await assertRoom(context)
  using memory = models.mediaMemory.open(caller.botId)
  const hold = holdGrowing(memory, expectedBytes)
  const choice = models.chooseMedia(use, model)
  const call = { botId: caller.botId, choice, hold, signal }
  const { bytes, metadata } = yield* metered(context, estimate(models, choice), (onAttempt) =>
    ask(models, { ...call, onAttempt }),
  )
  const { fileId, url } = await storeMedia(context, { bytes, format: metadata.format, model: metadata.model, days })
  return { url, metadata: { ...metadata, fileId } }
}
