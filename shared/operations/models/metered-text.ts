import type { Piece } from '../../llm/streamed-answer.ts'
import type { GenerateTextInput, GenerateTextOutput } from '../../models/language-model.ts'
import type { BotContext } from '../../rpc/caller.ts'
import { metered } from './metered.ts'

/**
 * Asks for a text within the budgets.
 *
 * @param call `isStreamed`: whether the answer is wanted in pieces; `signal` aborts the call
 * @throws ApiError as `metered`, and when there is no model
 */
export function meteredText(
  context: BotContext,
  input: GenerateTextInput,
  call: { isStreamed: boolean; signal: AbortSignal | undefined },
): AsyncGenerator<Piece, GenerateTextOutput, void> {
  const { models, caller } = context
  const choice = models.choose(input)
  return metered(context, models.estimate(input, choice), (onAttempt) =>
    models.generate({ botId: caller.botId, input, choice, ...call, onAttempt }),
  )
}
