import type { Choice } from '../../llm/choose-models.ts'
import { NoAnswerError } from '../../llm/model-failure.ts'
import type { Piece } from '../../llm/streamed-answer.ts'
import { ApiError } from '../../errors.ts'
import type { GenerateTextInput, GenerateTextOutput, ModelUsage } from '../../models/language-model.ts'
import type { BotContext } from '../../rpc/caller.ts'
import { BudgetExceededError, reserveUsage, settleUsage, type CallUsage } from '../../store/model-budgets.ts'

/** A call of language models. */
interface MeteredCall {
  input: GenerateTextInput
  choice: Choice
  isStreamed: boolean
  /** Aborts the call. */
  signal: AbortSignal | undefined
}

/**
 * Makes a call of language models within the budgets of the bot and its workspace: the estimated usage is reserved before,
 * and replaced by the reported usage afterwards. The reservation of a worker that dies stays, as the call may be billed.
 *
 * @returns the pieces of the answer, then the answer; it has to be read to its end, for the usage is settled there
 * @throws ApiError `PaymentRequired` when a budget is used up, before anything is sent; `NoAnswerError`
 */
export async function* metered(
  context: BotContext,
  call: MeteredCall,
): AsyncGenerator<Piece, GenerateTextOutput, void> {
  const { db, models, config, caller, log } = context
  const { inputTokens, inputCost, outputTokens, outputCost } = models.estimate(call.input, call.choice)
  const estimate = { tokens: inputTokens + outputTokens, cost: inputCost + outputCost }
  const reservation = await reserveUsage(db, caller.botId, estimate, config.models.workspaceBudget).catch(
    (error: unknown) => {
      throw error instanceof BudgetExceededError ? refusal(context, error) : error
    },
  )
  let used: CallUsage[] = []
  try {
    const answer = yield* models.generate({ botId: caller.botId, ...call })
    used = [toCallUsage(answer.metadata)]
    return answer
  } catch (error) {
    if (error instanceof NoAnswerError) used = error.billed.map((each) => toCallUsage(each))
    throw error
  } finally {
    // The answer is paid for: it is not lost with the database.
    await settleUsage(db, reservation, used).catch((err: unknown) => {
      log.warn({ err, botId: caller.botId }, 'The usage of a language model is not recorded; its reservation stays')
    })
  }
}

/** Asks for a whole answer, within the budgets. @throws ApiError as `metered` */
export async function askModels(context: BotContext, input: GenerateTextInput): Promise<GenerateTextOutput> {
  const call = { input, choice: context.models.choose(input), isStreamed: false, signal: context.callerGone?.() }
  const pieces = metered(context, call)
  let next = await pieces.next()
  while (!next.done) next = await pieces.next()
  return next.value
}

function toCallUsage({ model, usage }: { model: string; usage: ModelUsage }): CallUsage {
  const { inputTokens, inputCost, outputTokens, outputCost } = usage
  return { model, inputTokens, outputTokens, cost: inputCost + outputCost }
}

function refusal({ metrics }: BotContext, { owner, period, unit, spent, limit }: BudgetExceededError): ApiError {
  metrics.modelBudgetRefusals.inc({ budget: owner })
  const amount = (value: number) => (unit === 'tokens' ? `${value} tokens` : `$${value.toFixed(2)}`)
  return new ApiError(
    'PaymentRequired',
    `The ${owner} has used up its budget of language models for the ${period} in UTC (${amount(spent)} of ` +
      `${amount(limit)}): an administrator raises it with setModelBudget, up to the operator's bound`,
    { metadata: { subtype: 'MODEL_BUDGET_EXCEEDED', budget: owner, period, unit, spent, limit } },
  )
}
