import type { GenerateTextInput, GenerateTextOutput } from '../../models/language-model.ts'
import type { BotContext } from '../../rpc/caller.ts'
import { recordPaid } from '../../rpc/journal.ts'
import { answerOf } from './metered.ts'
import { meteredText } from './metered-text.ts'
import { promptText } from './call-text.ts'
import { reportAnswer, reportFailure } from './report-call.ts'

/**
 * Asks for a whole answer once in an event, within the budgets, and adds the call to the event's timeline.
 *
 * @param call the input of the operation, which the journal compares
 * @throws ApiError as `meteredText`
 */
export async function askRecorded(
  context: BotContext,
  call: unknown,
  input: GenerateTextInput,
): Promise<GenerateTextOutput> {
  let isReplayed = true
  try {
    const answer = await recordPaid(context, call, context.models.unrecorded, async () => {
      isReplayed = false
      return answerOf(meteredText(context, input, { isStreamed: false, signal: context.callerGone?.() }))
    })
    await reportAnswer(context, input, { answer, isReplayed })
    return answer
  } catch (error) {
    await reportFailure(context, () => promptText(input), error)
    throw error
  }
}
