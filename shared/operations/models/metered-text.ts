import { NoAnswerError } from '../../llm/model-failure.ts'
import type { Piece } from '../../llm/streamed-answer.ts'
import type { GenerateTextInput, GenerateTextOutput } from '../../models/language-model.ts'
import type { BotContext } from '../../rpc/caller.ts'
import { metered } from './metered.ts'
import { readMedia, withoutMedia } from './read-media.ts'

/**
 * Asks for a text within the budgets.
 *
 * @param call `isStreamed`: whether the answer is wanted in pieces; `signal` aborts the call
 * @throws ApiError as `metered` and `readMedia`, and when there is no model
 */
export async function* meteredText(
  context: BotContext,
  given: GenerateTextInput,
  call: { isStreamed: boolean; signal: AbortSignal | undefined },
): AsyncGenerator<Piece, GenerateTextOutput, void> {
  const { models, caller } = context
  const choice = models.choose(given)
  using media = await readMedia(context, choice, given)
  const ask = ({ input, warnings }: Pick<typeof media, 'input' | 'warnings'>) => {
    const told = { ...choice, warnings: [...choice.warnings, ...warnings] }
    return metered(context, models.estimate(input, choice), (onAttempt) =>
      models.generate({ botId: caller.botId, input, choice: told, ...call, onAttempt }),
    )
  }
  try {
    return yield* ask(media)
  } catch (error) {
    const isOfRequest = error instanceof NoAnswerError && error.isOfRequest
    const others = isOfRequest ? withoutMedia(context, given, error.message) : undefined
    if (!others) throw error
    return yield* ask(others)
  }
}
