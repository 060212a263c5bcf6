import type { LanguageModelV4GenerateResult, SharedV4Warning } from '@ai-sdk/provider'
import { isRecord } from '../models/payload.ts'
import { exponentDigits, maxExponentDigits } from '../json/exponents.ts'
import { parseBody } from '../json/parse-body.ts'
import type { GenerateTextOutput, ModelUsage, ModelWarning, StopReason } from '../models/language-model.ts'
import { priceOf } from './catalogue.ts'
import type { Candidate } from './choose-models.ts'
import { tokensOfText } from './estimate.ts'
import { AnswerTooLongError } from './guarded-fetch.ts'
import { toStorable } from '../models/storable.ts'

/** The answer of one model, without the facts about the call. */
export interface ModelAnswer extends Omit<GenerateTextOutput, 'metadata'> {
  usage: ModelUsage
  stopReason: StopReason
  warnings: ModelWarning[]
}

/** The reason is `other` for those that are not here. */
const stopReasons: Record<string, StopReason> = {
  stop: 'stop',
  length: 'max_tokens',
  'content-filter': 'content_filter',
  'tool-calls': 'tool_calls',
}

/**
 * Turns the result of a provider's library into the answer of `generateText`.
 *
 * @param estimate input tokens, where the provider reports none
 */
export function fromResult(
  { content, finishReason, usage, warnings }: LanguageModelV4GenerateResult,
  candidate: Candidate,
  { stops, estimate }: { stops: string[]; estimate: number },
): ModelAnswer {
  const whole = toStorable(content.flatMap((part) => (part.type === 'text' ? part.text : [])).join(''))
  const reasoning = toStorable(content.flatMap((part) => (part.type === 'reasoning' ? part.text : [])).join(''))
  const found = warningsOf(warnings)
  let digits = 0
  const toolCalls = content.flatMap((part) => {
    if (part.type !== 'tool-call') return []
    digits += exponentDigits(part.input)
    if (digits > maxExponentDigits) throw new AnswerTooLongError('The numbers of the answer have too many digits')
    const input = readInput(part.input)
    if (!input) {
      found.push({ type: 'provider_limitation', message: `The input of the tool '${part.toolName}' is no JSON object` })
    }
    return [{ id: toStorable(part.toolCallId), name: toStorable(part.toolName), input: input ?? {} }]
  })
  const output = cutAtStop(whole, stops)
  const inputTokens = believedTokens(usage.inputTokens.total)
  const outputTokens = believedTokens(usage.outputTokens.total)
  const written = tokensOfText(whole + reasoning + textOfCalls(content))
  if (inputTokens === undefined || (outputTokens === undefined && written > 0)) {
    found.push({ type: 'provider_limitation', message: 'The provider reports no usage: the tokens are estimated' })
  }
  const isCut = output.length < whole.length
  return {
    output,
    ...(reasoning !== '' && { reasoning }),
    ...(toolCalls.length > 0 && { toolCalls }),
    usage: toUsage(candidate, {
      input: inputTokens ?? estimate,
      output: outputTokens ?? written,
    }),
    stopReason: reasonOf(finishReason.unified, toolCalls.length > 0, isCut),
    warnings: toStorable(found),
  }
}

function reasonOf(unified: string, hasToolCalls: boolean, isCut: boolean): StopReason {
  if (hasToolCalls) return 'tool_calls'
  return isCut ? 'stop' : (stopReasons[unified] ?? 'other')
}

/** The tokens with their price. */
export function toUsage(
  { provider, model }: Candidate,
  { input, output }: { input: number; output: number },
): ModelUsage {
  const price = priceOf(provider.kind, model)
  return {
    inputTokens: countOf(input),
    inputCost: (countOf(input) * price.input) / 1e6,
    outputTokens: countOf(output),
    outputCost: (countOf(output) * price.output) / 1e6,
  }
}

/** A model calls tools by texts, which it writes like others. */
function textOfCalls(content: LanguageModelV4GenerateResult['content']): string {
  return content.flatMap((part) => (part.type === 'tool-call' ? [part.toolName, part.input] : [])).join('')
}

/** No model reads or writes as many tokens in a call. */
const maxTokens = 10_000_000

/**
 * A number of tokens that a provider reports; undefined for one that no call can have. Providers are not trusted to count: a call
 * for none would be outside of budgets, and one for more than there are uses up the budget of the whole workspace. Libraries report 0
 * where the provider leaves the number out.
 */
export function believedTokens(reported: number | undefined): number | undefined {
  return reported !== undefined && reported > 0 && reported <= maxTokens ? reported : undefined
}

/** A number of tokens as a budget can add it. */
export function countOf(tokens: number): number {
  return Number.isFinite(tokens) ? Math.min(Math.max(0, Math.round(tokens)), 1e9) : 0
}

/** Some models ignore stop sequences. */
function cutAtStop(text: string, stops: string[]): string {
  const ends = stops.map((stop) => text.indexOf(stop)).filter((position) => position !== -1)
  return text.slice(0, Math.min(text.length, ...ends))
}

function readInput(text: string): Record<string, unknown> | undefined {
  if (text.trim() === '') return {}
  try {
    const input = toStorable(parseBody(text))
    return isRecord(input) ? input : undefined
  } catch {
    return undefined
  }
}

/** The warnings of a provider's library. */
export function warningsOf(warnings: readonly SharedV4Warning[]): ModelWarning[] {
  return warnings.flatMap((warning) => toWarning(warning))
}

function toWarning(warning: SharedV4Warning): ModelWarning[] {
  switch (warning.type) {
    case 'unsupported':
      return [{ type: 'parameter_ignored', message: [warning.feature, warning.details].filter(Boolean).join(': ') }]
    case 'compatibility':
      return [{ type: 'provider_limitation', message: [warning.feature, warning.details].filter(Boolean).join(': ') }]
    case 'other':
      return [{ type: 'provider_limitation', message: warning.message }]
    default:
      return []
  }
}
