import { setTimeout as pause } from 'node:timers/promises'
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { LRUCache } from 'lru-cache'
import { aliases, type ModelsSettings } from '../config/models-settings.ts'
import type {
  FailureKind,
  GenerateTextInput,
  GenerateTextOutput,
  LanguageModel,
  ModelUsage,
} from '../models/language-model.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { redactor } from '../telemetry/redact.ts'
import { CallSlots } from './call-slots.ts'
import { listedModels, maxAnswerOf } from './catalogue.ts'
import { chooseModels, modelsOf, type Candidate, type Choice } from './choose-models.ts'
import { estimateTokens } from './estimate.ts'
import { fromResult, toUsage, type ModelAnswer } from './from-result.ts'
import { IdleStreamError, ModelFailure, NoAnswerError, toFailure } from './model-failure.ts'
import { withOwnKeys, type OwnKeys } from './own-keys.ts'
import { openProvider } from './providers.ts'
import { StreamedAnswer, type Piece } from './streamed-answer.ts'
import { stopsOf, toCall } from './to-call.ts'

/** The language models of the operator's providers, or of those with a workspace's own keys. */
export interface Gateway {
  /** The names of the providers. */
  providers: readonly string[]
  list(): LanguageModel[]
  /**
   * Chooses the models for a call.
   * @throws ApiError when there is none
   */
  choose(input: GenerateTextInput): Choice
  /** The usage that a call is assumed to have, by the most expensive of its models. */
  estimate(input: GenerateTextInput, choice: Choice): ModelUsage
  /**
   * Asks the models in order until one answers. After the first piece of an answer no other model is asked. A reader has to
   * read to the end; the signal of the call ends it early.
   *
   * @returns the pieces of a streamed answer as they come, then the whole answer
   * @throws NoAnswerError when no model answers, or an answer ends within
   */
  generate(call: GatewayCall): AsyncGenerator<Piece, GenerateTextOutput, void>
  /** The gateway with a workspace's own keys, whose calls have slots of their own. */
  withKeys(keys: OwnKeys): Gateway
  /** The calls of events that are in flight or whose answers are not recorded yet, by their key in the journal. */
  unrecorded: LRUCache<string, Promise<unknown>>
}

export interface GatewayCall {
  botId: string
  input: GenerateTextInput
  choice: Choice
  /** Whether the answer is wanted in pieces. */
  isStreamed?: boolean
  /** Aborts the call. */
  signal?: AbortSignal | undefined
  /** Called when a request to a provider has ended, that which answered and those that failed. */
  onAttempt?(attempt: ModelAttempt): void
}

/** One request to a provider, at its end. */
export interface ModelAttempt {
  /** `provider:model`. */
  model: string
  /** That of the answer; of a failure, what may be billed in spite of it, by estimate. */
  usage?: ModelUsage | undefined
  failure?: { kind: FailureKind; status: number | undefined }
}

/** A provider that asks for a longer pause is not asked again in the same call. */
const maxPauseSeconds = 2
/** A model whose first text takes longer than this is assumed to think in secret, with so many tokens a second. */
const usualFirstTextSeconds = 1
const hiddenTokensPerSecond = 100
/** The pause before the second attempt, where the provider asks for none. */
const pauseMilliseconds = 300
const unrecordedMilliseconds = 10 * 60_000

/** The gateways with workspaces' own keys that a process keeps open. */
const maxOwnGateways = 1000

/** The parts that all gateways of a process have in common. */
interface Common {
  metrics: Metrics
  log: Logger
  unrecorded: Gateway['unrecorded']
  /** Calls in flight by provider. */
  inFlight: Map<string, number>
  own: LRUCache<string, Gateway>
}

/** Opens the gateway. Nothing is loaded or sent before the first call. */
export function openGateway(settings: ModelsSettings, metrics: Metrics, log: Logger): Gateway {
  const inFlight = new Map(settings.providers.map(({ name }) => [name, 0]))
  metrics.gauge({
    name: 'model_calls_in_flight',
    help: 'Calls of language models in flight',
    labels: ['provider'],
    read: () => Array.from(inFlight, ([provider, calls]) => [{ provider }, calls]),
  })
  const unrecorded = new LRUCache<string, Promise<unknown>>({
    max: 10_000,
    ttl: unrecordedMilliseconds,
    ttlAutopurge: true,
  })
  const own = new LRUCache<string, Gateway>({ max: maxOwnGateways })
  return gatewayOf(settings, { metrics, log, unrecorded, inFlight, own })
}

function gatewayOf(settings: ModelsSettings, common: Common): Gateway {
  const { metrics, log, unrecorded, inFlight } = common
  const { providers, timeoutMilliseconds, idleMilliseconds, maxConcurrent } = settings
  const redact = redactor(providers.map(({ key }) => key))
  const open = new Map(
    providers.map((provider) => [
      provider.name,
      { model: openProvider(provider), slots: new CallSlots(maxConcurrent) },
    ]),
  )

  /** Calls one model once. @throws ModelFailure */
  async function* ask(
    call: GatewayCall,
    candidate: Candidate,
    signal: AbortSignal,
  ): AsyncGenerator<Piece, ModelAnswer, void> {
    const { model, slots } = open.get(candidate.provider.name)!
    const { name } = candidate.provider
    const options = toCall(call.input, candidate.provider)
    const leave = await slots.take(call.botId, signal).catch((cause: unknown) => {
      throw new ModelFailure('busy', `Too many calls of the provider ${name} are in flight`, { cause })
    })
    inFlight.set(name, (inFlight.get(name) ?? 0) + 1)
    const giveBack = () => {
      if (leave()) inFlight.set(name, inFlight.get(name)! - 1)
    }
    // Also while the reader of a stream pauses: the provider's connection ends with the signal, and so does the slot.
    signal.addEventListener('abort', giveBack, { once: true })
    const estimate = estimateTokens(call.input)
    const streamed = call.isStreamed === true ? new StreamedAnswer(stopsOf(call.input)) : undefined
    const over = new AbortController()
    const abortSignal = AbortSignal.any([signal, over.signal])
    const endTimer = metrics.modelSeconds.startTimer({ provider: name })
    const begin = performance.now()
    let hasBegun = false
    let hiddenSeconds = 0
    try {
      const opened = await model(candidate.model)
      if (streamed) {
        const endWait = metrics.modelFirstToken.startTimer({ provider: name })
        const { stream } = await orAborted(opened.doStream({ ...options, abortSignal }), signal)
        for await (const part of partsOf(stream, { signal, idleMilliseconds, hasBegun: () => hasBegun })) {
          const piece = streamed.add(part)
          if (piece) {
            if (!hasBegun) {
              endWait()
              hiddenSeconds = Math.max(0, (performance.now() - begin) / 1000 - usualFirstTextSeconds)
            }
            hasBegun = true
            yield piece
          }
          if (streamed.isOver) break
        }
      }
      const result = streamed?.result() ?? (await orAborted(opened.doGenerate({ ...options, abortSignal }), signal))
      const answer = fromResult(result, candidate, { stops: stopsOf(call.input), estimate: estimate.input })
      endTimer({ outcome: 'answered' })
      count(name, answer.usage)
      call.onAttempt?.({ model: candidate.id, usage: answer.usage })
      return answer
    } catch (cause) {
      const failure = toFailure(cause, candidate, {
        signal,
        isCancelled: call.signal?.aborted === true,
        redact,
        isStreamed: streamed !== undefined,
        hasBegun,
      })
      endTimer({ outcome: failure.kind })
      if (hasBegun) metrics.modelStreamsCut.inc({ provider: name })
      if (failure.mayBeBilled) {
        // Before its first text a model may have written much that is not shown.
        const expected = expectedOutput(candidate, estimate.output)
        const hidden = Math.min(expected, Math.round(hiddenSeconds * hiddenTokensPerSecond))
        const output = streamed && hasBegun ? streamed.tokens + hidden : expected
        failure.usage = toUsage(candidate, { input: estimate.input, output })
        count(name, failure.usage)
      }
      const { kind, status, usage } = failure
      call.onAttempt?.({ model: candidate.id, usage, failure: { kind, status } })
      // The error itself has the request and the answer of the provider, which are the user's.
      const reason = cause instanceof Error ? redact(cause.message).slice(0, 300) : undefined
      const level = kind === 'cancelled' ? 'debug' : 'warn'
      log[level]({ model: candidate.id, kind, status, reason }, 'A model gave no answer')
      throw failure
    } finally {
      over.abort()
      signal.removeEventListener('abort', giveBack)
      giveBack()
    }
  }

  function count(provider: string, usage: ModelUsage): void {
    metrics.modelTokens.inc({ provider, kind: 'input' }, usage.inputTokens)
    metrics.modelTokens.inc({ provider, kind: 'output' }, usage.outputTokens)
    metrics.modelCost.inc({ provider }, costOf(usage))
  }

  async function* askTwice(
    call: GatewayCall,
    candidate: Candidate,
    signal: AbortSignal,
  ): AsyncGenerator<Piece, ModelAnswer, void> {
    try {
      return yield* ask(call, candidate, signal)
    } catch (failure) {
      if (!(failure instanceof ModelFailure) || !failure.mayPass) throw failure
      const { retryAfterSeconds } = failure
      if (retryAfterSeconds !== undefined && retryAfterSeconds > maxPauseSeconds) throw failure
      await pause(retryAfterSeconds === undefined ? pauseMilliseconds : retryAfterSeconds * 1000, undefined, {
        signal,
      }).catch(() => {
        throw failure
      })
    }
    return yield* ask(call, candidate, signal)
  }

  return {
    providers: providers.map(({ name }) => name),
    unrecorded,
    withKeys(keys) {
      const id = JSON.stringify(keys)
      const known = common.own.get(id) ?? gatewayOf(withOwnKeys(settings, keys), common)
      common.own.set(id, known)
      return known
    },
    list: () =>
      providers.flatMap(listedModels).map((model) => ({
        ...model,
        aliases: aliases.filter((alias) => modelsOf(settings, alias)[0]?.id === model.id),
      })),
    choose: ({ model = 'auto' }) => chooseModels(settings, typeof model === 'string' ? [model] : model),
    estimate(input, { candidates }) {
      const tokens = estimateTokens(input)
      const usages = candidates.map((candidate) =>
        toUsage(candidate, { input: tokens.input, output: expectedOutput(candidate, tokens.output) }),
      )
      return usages.reduce((one, other) => (costOf(other) > costOf(one) ? other : one))
    },
    async *generate(call) {
      const begin = performance.now()
      const since = () => Math.round(performance.now() - begin)
      const { choice, signal: given } = call
      const limit = AbortSignal.timeout(timeoutMilliseconds)
      const signal = given ? AbortSignal.any([given, limit]) : limit
      const failures: { id: string; failure: ModelFailure }[] = []
      let ttft: number | undefined
      for (const candidate of choice.candidates) {
        try {
          const asked = askTwice(call, candidate, signal)
          let next = await asked.next()
          for (; !next.done; next = await asked.next()) {
            ttft ??= since()
            yield next.value
          }
          const { usage, stopReason, warnings, ...answer } = next.value
          const all = [...choice.warnings, ...warnings]
          return {
            ...answer,
            metadata: {
              provider: candidate.provider.name,
              model: candidate.id,
              usage,
              cost: costOf(usage),
              cached: false,
              latency: since(),
              ...(ttft !== undefined && { ttft }),
              stopReason,
              fallbackPath: failures.map(({ id }) => id),
              ...(all.length > 0 && { warnings: all }),
            },
          }
        } catch (failure) {
          if (!(failure instanceof ModelFailure)) throw failure
          failures.push({ id: candidate.id, failure })
          if (signal.aborted || ttft !== undefined) break
        }
      }
      throw new NoAnswerError(failures)
    },
  }
}

/** The tokens that an answer is assumed to have, within what the model can write. */
function expectedOutput({ provider, model }: Candidate, output: number): number {
  return Math.min(output, maxAnswerOf(provider.kind, model))
}

/**
 * Reads a stream, and waits for each part for a bounded time. The first part of an answer has all the time of the call: some
 * models think in silence before.
 */
async function* partsOf(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  { signal, idleMilliseconds, hasBegun }: { signal: AbortSignal; idleMilliseconds: number; hasBegun: () => boolean },
): AsyncGenerator<LanguageModelV4StreamPart, void, void> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const idle = new AbortController()
      const timer = hasBegun() ? setTimeout(() => idle.abort(new IdleStreamError()), idleMilliseconds) : undefined
      const { done, value } = await orAborted(reader.read(), AbortSignal.any([signal, idle.signal])).finally(() =>
        clearTimeout(timer),
      )
      if (done) return
      yield value
    }
  } finally {
    // A stream that has failed cannot be cancelled.
    void reader.cancel().catch(() => {})
  }
}

/** A library that ignores the signal does not hold the caller. */
async function orAborted<Result>(promise: PromiseLike<Result>, signal: AbortSignal): Promise<Result> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const stop = () => reject(signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason)))
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

function costOf({ inputCost, outputCost }: ModelUsage): number {
  return inputCost + outputCost
}
