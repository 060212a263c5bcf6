import type { MediaUse } from '../../config/models-settings.ts'
import type { Choice } from '../../llm/choose-models.ts'
import type { Gateway, MediaCall } from '../../llm/gateway.ts'
import type { MadeContent } from '../../llm/made-content.ts'
import { holdGrowing } from '../../llm/media-memory.ts'
import { usualDays } from '../../models/media.ts'
import type { ModelUsage } from '../../models/language-model.ts'
import type { BotContext } from '../../rpc/caller.ts'
import { megabyte } from '../../units.ts'
import { bounded } from './call-text.ts'
import { answerOf, metered } from './metered.ts'
import { withOwnModels } from './own-models.ts'
import { recordCall } from './record-call.ts'
import { assertRoom, storeMedia, type MediaFormat } from './store-media.ts'

/** The memory of a usual picture or audio file, which is counted before its size is known. */
const expectedBytes = 4 * megabyte

/** The fact about a content that its file needs. */
interface ContentFacts {
  format: MediaFormat
}

interface Making<Facts extends ContentFacts> {
  use: MediaUse
  /** Its models, in order of fallback. */
  model: string | readonly string[] | undefined
  prompt: string
  /** Days for which the file is kept. */
  days: number | undefined
  estimate(models: Gateway, choice: Choice): ModelUsage
  ask(models: Gateway, call: MediaCall): AsyncGenerator<never, MadeContent<Facts>, void>
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
  making: Making<Facts>,
): Promise<MadeFile<Facts>> {
  const context = await withOwnModels(given)
  return recordCall(context, call, {
    make: () => makeFile(context, making),
    prompt: () => bounded(making.prompt),
    answerOf: ({ url }) => url,
  })
}

async function makeFile<Facts extends ContentFacts>(
  context: BotContext,
  { use, model, days = usualDays, estimate, ask }: Making<Facts>,
): Promise<MadeFile<Facts>> {
  const { models, caller } = context
  await assertRoom(context)
  using memory = models.mediaMemory.open(caller.botId)
  const hold = holdGrowing(memory, expectedBytes)
  const choice = models.chooseMedia(use, model)
  const call = { botId: caller.botId, choice, hold, signal: context.callerGone?.() }
  const { bytes, metadata } = await answerOf(
    metered(context, estimate(models, choice), (onAttempt) => ask(models, { ...call, onAttempt })),
  )
  const { fileId, url } = await storeMedia(context, { bytes, format: metadata.format, model: metadata.model, days })
  return { url, metadata: { ...metadata, fileId } }
}
