import { NoAnswerError } from '../../llm/model-failure.ts'
import type { GenerateTextInput, GenerateTextOutput } from '../../models/language-model.ts'
import type { ModelStep } from '../../models/run-record.ts'
import type { BotContext, ModelCallReport } from '../../rpc/caller.ts'
import { answerText, promptText } from './call-text.ts'

/** Adds a call that a model has answered to the timeline of its event. */
export async function reportAnswer(
  context: BotContext,
  input: GenerateTextInput,
  { answer, isReplayed }: { answer: GenerateTextOutput; isReplayed: boolean },
): Promise<void> {
  const contents = () => ({ prompt: promptText(input), answer: answerText(answer) })
  await reportCall(context, { metadata: answer.metadata, isReplayed, contents })
}

/** The part of the metadata of an answer that the timeline has. */
export type AnswerMetadata = Pick<GenerateTextOutput['metadata'], 'model' | 'usage' | 'cost' | 'ttft'>

/** Adds an answered call of any kind to the timeline of its event. */
export async function reportCall(
  { caller }: BotContext,
  {
    metadata: { model, usage, cost, ttft },
    isReplayed,
    contents,
  }: Pick<ModelCallReport, 'contents'> & {
    metadata: AnswerMetadata
    isReplayed: boolean
  },
): Promise<void> {
  const facts: ModelStep = {
    model,
    input: usage.inputTokens,
    output: usage.outputTokens,
    ...(cost > 0 && { cost }),
    ...(ttft !== undefined && { first: ttft }),
    ...(isReplayed && { replayed: true }),
  }
  await caller.execution?.reportModelCall?.({ facts, contents })
}

/** Adds a call that no model has answered; refusals before a model was asked have only the status of their step. */
export async function reportFailure({ caller }: BotContext, prompt: () => string, error: unknown): Promise<void> {
  if (!(error instanceof NoAnswerError)) return
  const { last, billed } = error
  const sum = (of: (usage: (typeof billed)[number]['usage']) => number) =>
    billed.reduce((total, { usage }) => total + of(usage), 0)
  const facts: ModelStep = {
    model: last.model,
    ...(billed.length > 0 && {
      input: sum((usage) => usage.inputTokens),
      output: sum((usage) => usage.outputTokens),
      cost: sum((usage) => usage.inputCost + usage.outputCost),
    }),
    failure: last.status === undefined ? last.kind : `${last.kind} ${last.status}`,
  }
  await caller.execution?.reportModelCall?.({ facts, contents: () => ({ prompt: prompt(), answer: '' }) })
}

/** The metadata of a call that fails within, with the usage that the provider may bill. */
export function failedCall(cause: unknown) {
  const billed = cause instanceof NoAnswerError ? cause.billed.at(-1) : undefined
  const usage = billed?.usage ?? { inputTokens: 0, inputCost: 0, outputTokens: 0, outputCost: 0 }
  return {
    provider: billed?.model.split(':', 1)[0] ?? 'unknown',
    model: billed?.model ?? 'unknown',
    usage,
    cost: usage.inputCost + usage.outputCost,
    cached: false,
    latency: 0,
    fallbackPath: [],
  }
}
