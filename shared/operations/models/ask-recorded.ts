import type { GenerateTextInput, GenerateTextOutput } from '../../models/language-model.ts'
import type { BotContext } from '../../rpc/caller.ts'
import { answerText, promptText } from './call-text.ts'
import { answerOf } from './metered.ts'
import { meteredText } from './metered-text.ts'
import { recordCall } from './record-call.ts'

/**
 * Asks for a whole answer once in an event, within the budgets, and adds the call to the event's timeline.
 *
 * @param call the input of the operation, which the journal compares
 * @throws ApiError as `meteredText`
 */
export function askRecorded(context: BotContext, call: unknown, input: GenerateTextInput): Promise<GenerateTextOutput> {
  return recordCall(context, call, {
    make: () => answerOf(meteredText(context, input, { isStreamed: false, signal: context.callerGone?.() })),
    prompt: () => promptText(input),
    answerOf: answerText,
  })
}
