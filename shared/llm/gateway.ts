import { setTimeout as pause } from 'node:timers/promises'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import { LRUCache } from 'lru-cache'
import { aliases, type ModelsSettings } from '../config/models-settings.ts'
import { ApiError } from '../errors.ts'
import type { GenerateTextInput, GenerateTextOutput, LanguageModel, ModelUsage } from '../models/language-model.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { redactor } from '../telemetry/redact.ts'
import { CallSlots } from './call-slots.ts'
import { listedModels, maxAnswerOf } from './catalogue.ts'
import { chooseModels, modelsOf, type Candidate, type Choice } from './choose-models.ts'
import { estimateTokens } from './estimate.ts'
import { fromResult, toUsage, type ModelAnswer } from './from-result.ts'
import { ModelFailure, noAnswer, toFailure } from './model-failure.ts'
import { openProvider } from './providers.ts'
import { stopsOf, toCall } from './to-call.ts'

/** The language models of the operator's providers. */
export interface Gateway {
  list(): LanguageModel[]
  /**
   * Chooses the models for a call.
   * @throws ApiError when there is none
   */
  choose(input: GenerateTextInput): Choice
  /** The usage that a call is assumed to have, by the most expensive of its models. */
  estimate(input: GenerateTextInput, choice: Choice): ModelUsage
  /**
   * Asks the models in order until one answers.
   *
   * @throws NoAnswerError when none does
   */
  generate(call: GatewayCall): Promise<GenerateTextOutput>
  /** The calls of events that are in flight or whose answers are not recorded yet, by their key in the journal. */
  unrecorded: LRUCache<string, Promise<unknown>>
}

export interface GatewayCall {
  botId: string
  input: GenerateTextInput
  choice: Choice
  /** Aborts the call. */
  signal?: AbortSignal | undefined
}

/** No model answered. */
export class NoAnswerError extends Error {
  override name = 'NoAnswerError'
  /** For the caller. */
  readonly answer: ApiError
  /** Whether a provider may have made an answer, which it bills. */
  readonly mayBeBilled: boolean

  constructor(failures: readonly { id: string; failure: ModelFailure }[]) {
    const answer = noAnswer(failures)
    super(answer.message, { cause: answer })
    this.answer = answer
    this.mayBeBilled = failures.some(({ failure }) => failure.mayBeBilled)
  }
}

/** A provider that asks for a longer pause is not asked again in the same call. */
const maxPauseSeconds = 2
/** The pause before the second attempt, where the provider asks for none. */
const pauseMilliseconds = 300
const unrecordedMilliseconds = 10 * 60_000

/** Opens the gateway. Nothing is loaded or sent before the first call. */
export function openGateway(settings: ModelsSettings, metrics: Metrics, log: Logger): Gateway {
  const { providers, timeoutMilliseconds, maxConcurrent } = settings
  const redact = redactor(providers.map(({ key }) => key))
  const open = new Map(
    providers.map((provider) => [
      provider.name,
      { model: openProvider(provider), slots: new CallSlots(maxConcurrent) },
    ]),
  )
  metrics.gauge({
    name: 'model_calls_in_flight',
    help: 'Calls of language models in flight',
    labels: ['provider'],
    read: () => Array.from(open, ([provider, { slots }]) => [{ provider }, slots.taken]),
  })

  /** Calls one model once. @throws ModelFailure */
  async function ask(call: GatewayCall, candidate: Candidate, signal: AbortSignal): Promise<ModelAnswer> {
    const { model, slots } = open.get(candidate.provider.name)!
    const { name } = candidate.provider
    const options = toCall(call.input, candidate.provider)
    const leave = await slots.take(call.botId, signal).catch((cause: unknown) => {
      throw new ModelFailure('busy', `Too many calls of the provider ${name} are in flight`, { cause })
    })
    const endTimer = metrics.modelSeconds.startTimer({ provider: name })
    try {
      const result = await resultOf(await model(candidate.model), options, signal)
      const { input } = estimateTokens(call.input)
      const answer = fromResult(result, candidate, { stops: stopsOf(call.input), estimate: input })
      endTimer({ outcome: 'answered' })
      metrics.modelTokens.inc({ provider: name, kind: 'input' }, answer.usage.inputTokens)
      metrics.modelTokens.inc({ provider: name, kind: 'output' }, answer.usage.outputTokens)
      metrics.modelCost.inc({ provider: name }, answer.usage.inputCost + answer.usage.outputCost)
      return answer
    } catch (cause) {
      const failure = toFailure(cause, candidate, { signal, redact })
      endTimer({ outcome: failure.kind })
      // The error itself has the request and the answer of the provider, which are the user's.
      const reason = cause instanceof Error ? redact(cause.message).slice(0, 300) : undefined
      log.warn({ model: candidate.id, kind: failure.kind, status: failure.status, reason }, 'A model gave no answer')
      throw failure
    } finally {
      leave()
    }
  }

  async function askTwice(call: GatewayCall, candidate: Candidate, signal: AbortSignal): Promise<ModelAnswer> {
    try {
      return await ask(call, candidate, signal)
    } catch (failure) {
      if (!(failure instanceof ModelFailure) || !failure.mayPass) throw failure
      const { retryAfterSeconds } = failure
      if (retryAfterSeconds !== undefined && retryAfterSeconds > maxPauseSeconds) throw failure
      await pause(retryAfterSeconds === undefined ? pauseMilliseconds : retryAfterSeconds * 1000, undefined, {
        signal,
      }).catch(() => {
        throw failure
      })
      return ask(call, candidate, signal)
    }
  }

  return {
    unrecorded: new LRUCache({ max: 10_000, ttl: unrecordedMilliseconds, ttlAutopurge: true }),
    list: () =>
      providers.flatMap(listedModels).map((model) => ({
        ...model,
        aliases: aliases.filter((alias) => modelsOf(settings, alias)[0]?.id === model.id),
      })),
    choose: ({ model = 'auto' }) => chooseModels(settings, typeof model === 'string' ? [model] : model),
    estimate(input, { candidates }) {
      const tokens = estimateTokens(input)
      const usages = candidates.map((candidate) => {
        const output = Math.min(tokens.output, maxAnswerOf(candidate.provider.kind, candidate.model))
        return toUsage(candidate, { input: tokens.input, output })
      })
      return usages.reduce((one, other) => (costOf(other) > costOf(one) ? other : one))
    },
    async generate(call) {
      const begin = performance.now()
      const { choice, signal: given } = call
      const limit = AbortSignal.timeout(timeoutMilliseconds)
      const signal = given ? AbortSignal.any([given, limit]) : limit
      const failures: { id: string; failure: ModelFailure }[] = []
      for (const candidate of choice.candidates) {
        try {
          const { usage, stopReason, warnings, ...answer } = await askTwice(call, candidate, signal)
          const all = [...choice.warnings, ...warnings]
          return {
            ...answer,
            metadata: {
              provider: candidate.provider.name,
              model: candidate.id,
              usage,
              cost: costOf(usage),
              cached: false,
              latency: Math.round(performance.now() - begin),
              stopReason,
              fallbackPath: failures.map(({ id }) => id),
              ...(all.length > 0 && { warnings: all }),
            },
          }
        } catch (failure) {
          if (!(failure instanceof ModelFailure)) throw failure
          failures.push({ id: candidate.id, failure })
          if (signal.aborted) break
        }
      }
      throw new NoAnswerError(failures)
    },
  }
}

/** A library that ignores the signal does not hold the caller. */
async function resultOf(model: LanguageModelV4, options: ReturnType<typeof toCall>, signal: AbortSignal) {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const stop = () => reject(signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason)))
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([model.doGenerate({ ...options, abortSignal: signal }), aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

function costOf({ inputCost, outputCost }: ModelUsage): number {
  return inputCost + outputCost
}
