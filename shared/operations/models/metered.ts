import type { Choice } from '../../llm/choose-models.ts'
import { NoAnswerError } from '../../llm/gateway.ts'
import { ApiError } from '../../errors.ts'
import type { GenerateTextInput, GenerateTextOutput } from '../../models/language-model.ts'
import type { BotContext } from '../../rpc/caller.ts'
import { BudgetExceededError, reserveUsage, settleUsage, type CallUsage } from '../../store/model-budgets.ts'

/**
 * Makes a call of language models within the budgets of the bot and its workspace: the estimated usage is reserved before,
 * and replaced by the reported usage afterwards. The reservation of a worker that dies stays, as the call may be billed.
 *
 * @throws ApiError `PaymentRequired` when a budget is used up, before anything is sent; the error of the call
 */
export async function metered(
  context: BotContext,
  { input, choice }: { input: GenerateTextInput; choice: Choice },
  ask: () => Promise<GenerateTextOutput>,
): Promise<GenerateTextOutput> {
  const { db, models, config, caller, log } = context
  const { inputTokens, inputCost, outputTokens, outputCost } = models.estimate(input, choice)
  const estimate = { tokens: inputTokens + outputTokens, cost: inputCost + outputCost }
  const reservation = await reserveUsage(db, caller.botId, estimate, config.models.workspaceBudget).catch(
    (error: unknown) => {
      throw error instanceof BudgetExceededError ? refusal(context, error) : error
    },
  )
  let used: CallUsage | undefined
  try {
    const answer = await ask()
    const { model, usage, cost } = answer.metadata
    used = { model, inputTokens: usage.inputTokens, outputTokens: usage.outputTokens, cost }
    return answer
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error
    if (error.mayBeBilled) used = { model: choice.candidates[0]!.id, inputTokens, outputTokens, cost: estimate.cost }
    throw error.answer
  } finally {
    // The answer is paid for: it is not lost with the database.
    await settleUsage(db, reservation, used).catch((err: unknown) => {
      log.warn({ err, botId: caller.botId }, 'The usage of a language model is not recorded; its reservation stays')
    })
  }
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
