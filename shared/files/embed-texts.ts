import type { HostedProvider, ModelProvider } from '../config/models-settings.ts'
import type { Context } from '../context.ts'
import {
  EmbeddingsError,
  timeouts,
  UnpaidError,
  type Embedded,
  type EmbeddedKind,
  type Embeddings,
} from '../embeddings/embeddings.ts'
import { vectorPriceOf } from '../llm/catalogue.ts'
import { tokensOfText } from '../llm/estimate.ts'
import {
  BudgetExceededError,
  reserveUsage,
  settleUsage,
  settlingMilliseconds,
  type CallFailures,
} from '../store/model-budgets.ts'
import { readModelKeys } from '../store/model-keys.ts'

type Parts = Pick<Context, 'db' | 'config' | 'metrics' | 'log'> & { embeddings: Embeddings }

/**
 * Makes vectors of texts of a bot. Those of a provider of language models are paid for by the workspace's own key of that
 * provider, else by the operator's, and count in the budgets of the bot and its workspace.
 *
 * @throws EmbeddingsError
 */
export async function embedTexts(
  parts: Parts,
  botId: string,
  kind: EmbeddedKind,
  texts: string[],
): Promise<Float32Array[]> {
  const { db, config, embeddings } = parts
  const { provider } = embeddings
  if (!provider) return (await embeddings.embed(kind, texts)).vectors
  // An own key is one of a hosted provider, and goes to that provider only.
  const keys = provider.kind === 'compatible' ? {} : await readModelKeys(db, config.secret, botId)
  const { vectors } = await embeddings.embed(kind, texts, {
    key: keys[provider.name as HostedProvider],
    pay: (request) => metered(parts, { botId, kind, provider, texts }, request),
  })
  return vectors
}

interface MeteredRequest {
  botId: string
  kind: EmbeddedKind
  provider: Pick<ModelProvider, 'name' | 'kind'>
  texts: string[]
}

/** Makes a request within budgets, as `metered` of the operations of language models does. */
async function metered(
  { db, config, embeddings, metrics, log }: Parts,
  { botId, kind, provider, texts }: MeteredRequest,
  request: () => Promise<Embedded>,
): Promise<Embedded> {
  const model = `${provider.name}:${embeddings.requestedModel}`
  const dollars = vectorPriceOf(provider.kind, embeddings.requestedModel) / 1e6
  const estimate = texts.reduce((sum, text) => sum + tokensOfText(text), 0)
  const reservation = await reserveUsage(
    db,
    botId,
    { tokens: estimate, cost: estimate * dollars },
    { operatorBudget: config.models.workspaceBudget, milliseconds: timeouts[kind] + settlingMilliseconds },
  ).catch((error: unknown) => {
    if (!(error instanceof BudgetExceededError)) throw error
    metrics.modelBudgetRefusals.inc({ budget: error.owner })
    const used = `The ${error.owner} has used up its budget of language models for the ${error.period} in UTC`
    throw new UnpaidError('refused', used, { cause: error })
  })
  let tokens = 0
  const failures: CallFailures[] = []
  try {
    const embedded = await request()
    tokens = embedded.tokens || estimate
    return embedded
  } catch (error) {
    if (error instanceof EmbeddingsError) {
      // The provider may have made these vectors, and bills them.
      if (error.kind === 'timeout' || error.kind === 'malformed') tokens = estimate
      if (error.kind !== 'busy') failures.push({ model, kind: error.kind, status: error.status ?? 0, failures: 1 })
    }
    throw error
  } finally {
    const cost = tokens * dollars
    metrics.modelTokens.inc({ provider: provider.name, kind: 'input' }, tokens)
    metrics.modelCost.inc({ provider: provider.name }, cost)
    const usages = tokens === 0 ? [] : [{ model, calls: 1, inputTokens: tokens, outputTokens: 0, cost }]
    // The vectors are paid for: they are not lost with the database.
    await settleUsage(db, reservation, { usages, failures }).catch((err: unknown) => {
      log.warn({ err, botId }, 'The usage of a model of embeddings is not recorded; its reservation stays')
    })
  }
}
