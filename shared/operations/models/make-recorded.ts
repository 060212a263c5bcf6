import type { GenerateTextOutput } from '../../models/language-model.ts'
import type { BotContext } from '../../rpc/caller.ts'
import { recordPaid } from '../../rpc/journal.ts'
import { megabyte } from '../../units.ts'
import { bounded } from './call-text.ts'
import { withOwnModels } from './own-models.ts'
import { reportCall, reportFailure } from './report-call.ts'
import { assertRoom } from './store-media.ts'

/** The memory of a usual picture or audio file, which is counted before its size is known. */
const expectedBytes = 4 * megabyte

interface MadeMedia {
  metadata: Pick<GenerateTextOutput['metadata'], 'model' | 'usage' | 'cost'>
}

interface Making<Made> {
  /** The question, as people read it. */
  prompt: string
  make(context: BotContext): Promise<Made>
  /** The address of the file, which is the answer as people read it. */
  addressOf(made: Made): string
}

/**
 * Has a model make a file, once in an event, within the budgets and the bot's quotas, and adds the call to the event's timeline.
 *
 * @param call the input of the operation, which the journal compares
 * @throws ApiError as `metered`, `QuotaExceeded`, and when there is no model
 */
export async function makeRecorded<Made extends MadeMedia>(
  given: BotContext,
  call: unknown,
  { prompt, make, addressOf }: Making<Made>,
): Promise<Made> {
  const context = await withOwnModels(given)
  let isReplayed = true
  try {
    const made = await recordPaid(context, call, context.models.unrecorded, async () => {
      isReplayed = false
      await assertRoom(context)
      const memory = context.models.mediaMemory.open(context.caller.botId)
      try {
        memory.add(expectedBytes)
        return await make(context)
      } finally {
        memory.close()
      }
    })
    await reportCall(context, {
      metadata: made.metadata,
      isReplayed,
      contents: () => ({ prompt: bounded(prompt), answer: addressOf(made) }),
    })
    return made
  } catch (error) {
    await reportFailure(context, () => bounded(prompt), error)
    throw error
  }
}
