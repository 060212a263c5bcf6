import type { ModelsSettings } from '../../config/models-settings.ts'
import type { ModelAttempt } from '../../llm/provider-calls.ts'
import { ApiError } from '../../errors.ts'
import type { ModelUsage } from '../../models/language-model.ts'
import type { BotContext } from '../../rpc/caller.ts'
import {
  BudgetExceededError,
  reserveUsage,
  settlingMilliseconds,
  settleUsage,
  type CallFailures,
  type CallUsage,
} from '../../store/model-budgets.ts'

/**
 * Makes a call of language models within the budgets of the bot and its workspace: the estimated usage is reserved before,
 * and replaced by the reported usage afterwards. The reservation of a worker that dies stays until its call can no longer be in
 * flight.
 *
 * @param estimate the usage that the call is assumed to have
 * @param ask makes the call
 * @returns the pieces of the answer, then the answer; it has to be read to its end, for the usage is settled there
 * @throws ApiError `PaymentRequired` when a budget is used up, before anything is sent; `NoAnswerError`
 */
export async function* metered<Piece, Answer>(
  context: BotContext,
  { inputTokens, inputCost, outputTokens, outputCost }: ModelUsage,
  ask: (onAttempt: (attempt: ModelAttempt) => void) => AsyncGenerator<Piece, Answer, void>,
): AsyncGenerator<Piece, Answer, void> {
  const { db, config, caller, log } = context
  const estimate = { tokens: inputTokens + outputTokens, cost: inputCost + outputCost }
  const options = { operatorBudget: config.models.workspaceBudget, milliseconds: longestCall(config.models) }
  const reservation = await reserveUsage(db, caller.botId, estimate, options).catch((error: unknown) => {
    throw error instanceof BudgetExceededError ? refusal(context, error) : error
  })
  const attempts: ModelAttempt[] = []
  try {
    return yield* ask((attempt) => attempts.push(attempt))
  } finally {
    // The answer is paid for: it is not lost with the database.
    await settleUsage(db, reservation, { usages: usagesOf(attempts), failures: failuresOf(attempts) }).catch(
      (err: unknown) => {
        log.warn({ err, botId: caller.botId }, 'The usage of a language model is not recorded; its reservation stays')
      },
    )
  }
}

function longestCall({ timeoutMilliseconds }: ModelsSettings): number {
  return timeoutMilliseconds + settlingMilliseconds
}

/** The answer after all pieces. */
export async function answerOf<Answer>(pieces: AsyncGenerator<unknown, Answer, void>): Promise<Answer> {
  let next = await pieces.next()
  while (!next.done) next = await pieces.next()
  return next.value
}

/** The usage of the attempts by model: of those that answered, and of those that may be billed. */
function usagesOf(attempts: readonly ModelAttempt[]): CallUsage[] {
  const byModel = new Map<string, CallUsage>()
  for (const { model, usage } of attempts) {
    if (!usage) continue
    const used = byModel.get(model) ?? { model, calls: 0, inputTokens: 0, outputTokens: 0, cost: 0 }
    byModel.set(model, {
      model,
      calls: used.calls + 1,
      inputTokens: used.inputTokens + usage.inputTokens,
      outputTokens: used.outputTokens + usage.outputTokens,
      cost: used.cost + usage.inputCost + usage.outputCost,
    })
  }
  return [...byModel.values()]
}

/** The failures of the attempts, by model and cause. A call that its caller has ended is none. */
function failuresOf(attempts: readonly ModelAttempt[]): CallFailures[] {
  const byCause = new Map<string, CallFailures>()
  for (const { model, failure } of attempts) {
    if (!failure || failure.kind === 'cancelled') continue
    const { kind, status = 0 } = failure
    const key = JSON.stringify([model, kind, status])
    byCause.set(key, { model, kind, status, failures: (byCause.get(key)?.failures ?? 0) + 1 })
  }
  return [...byCause.values()]
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
