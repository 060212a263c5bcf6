import { setTimeout as pause } from 'node:timers/promises'
import type { ModelsSettings } from '../config/models-settings.ts'
import type { FailureKind, ModelUsage } from '../models/language-model.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { redactor } from '../telemetry/redact.ts'
import { TenantSlots } from '../tenant-slots.ts'
import type { Candidate } from './choose-models.ts'
import { ModelFailure, NoAnswerError, toFailure } from './model-failure.ts'
import { openProvider, type OpenedProvider } from './providers.ts'
import type { SharedSlots } from './shared-slots.ts'

/** A request to one model, not sent yet. */
export interface ModelRequest<Piece, Answer> {
  readonly isStreamed: boolean
  /** Whether a part of the answer has been given to the caller. */
  readonly hasBegun: boolean
  /**
   * Sends the request, once.
   *
   * @param signals `signal`: the caller's wish and the time of the call; `abortSignal`: also that its end was reached
   * @returns the pieces of a streamed answer as they come, then the whole answer
   */
  send(
    provider: OpenedProvider,
    signals: { signal: AbortSignal; abortSignal: AbortSignal },
  ): AsyncGenerator<Piece, Answer, void>
  /** The usage that may be billed although the request failed, by estimate. */
  billed(): ModelUsage
}

/** A call: its request is sent to one model after another until one answers. */
export interface ProviderCall<Piece, Answer> {
  botId: string
  candidates: readonly Candidate[]
  /** Makes the request to one of the candidates. @throws ApiError when the input contradicts itself */
  request(candidate: Candidate): ModelRequest<Piece, Answer>
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

/** An answer, and the call that it ends. */
export interface Answered<Answer> {
  answer: Answer
  candidate: Candidate
  /** Milliseconds from the call to the answer, and to the first piece of a stream. */
  latency: number
  ttft: number | undefined
  /** The models that failed before. */
  fallbackPath: string[]
}

/** Asks the models in order until one answers. After the first piece of an answer no other model is asked. */
export type AskInOrder = <Piece, Answer extends { usage: ModelUsage }>(
  call: ProviderCall<Piece, Answer>,
) => AsyncGenerator<Piece, Answered<Answer>, void>

/** The parts that the calls of all gateways of a process have in common. */
export interface CallTelemetry {
  metrics: Metrics
  log: Logger
  /** Calls in flight by provider. */
  inFlight: Map<string, number>
  /** The slots that all processes share, where the operator bounds them. */
  sharedSlots: SharedSlots | undefined
}

/** A provider that asks for a longer pause is not asked again in the same call. */
const maxPauseSeconds = 2
/** Upper bound of the calls of a bot that wait, for each slot that it may have. */
const waitingForEachSlot = 2
/** The pause before the second attempt, where the provider asks for none. */
const pauseMilliseconds = 300

/** Opens the providers of a gateway, whose libraries are loaded at their first call. */
export function openProviderCalls(
  { providers, timeoutMilliseconds, maxConcurrent }: ModelsSettings,
  telemetry: CallTelemetry,
): AskInOrder {
  const { metrics, log } = telemetry
  const redact = redactor(providers.map(({ key }) => key))
  const open = new Map(
    providers.map((provider) => [provider.name, { provider: openProvider(provider), slots: slotsOf(maxConcurrent) }]),
  )

  /** Calls one model once. @throws ModelFailure */
  async function* ask<Piece, Answer extends { usage: ModelUsage }>(
    call: ProviderCall<Piece, Answer>,
    candidate: Candidate,
    signal: AbortSignal,
  ): AsyncGenerator<Piece, Answer, void> {
    const { name } = candidate.provider
    const { provider, slots } = open.get(name)!
    const request = call.request(candidate)
    const giveBack = await takeSlots(telemetry, slots, candidate, { botId: call.botId, signal })
    // Also while the reader of a stream pauses: the provider's connection ends with the signal, and so does the slot.
    signal.addEventListener('abort', giveBack, { once: true })
    const over = new AbortController()
    const endTimer = metrics.modelSeconds.startTimer({ provider: name })
    try {
      const abortSignal = AbortSignal.any([signal, over.signal])
      const answer = yield* request.send(provider, { signal, abortSignal })
      endTimer({ outcome: 'answered' })
      count(name, answer.usage)
      call.onAttempt?.({ model: candidate.id, usage: answer.usage })
      return answer
    } catch (cause) {
      const { isStreamed, hasBegun } = request
      const isCancelled = call.signal?.aborted === true
      const failure = toFailure(cause, candidate, { signal, isCancelled, redact, isStreamed, hasBegun })
      endTimer({ outcome: failure.kind })
      if (failure.mayBeBilled) failure.usage = request.billed()
      if (hasBegun) metrics.modelStreamsCut.inc({ provider: name })
      recordFailure(call, candidate, failure, cause)
      throw failure
    } finally {
      over.abort()
      signal.removeEventListener('abort', giveBack)
      giveBack()
    }
  }

  function recordFailure(
    call: Pick<ProviderCall<unknown, unknown>, 'onAttempt'>,
    { id: model, provider }: Candidate,
    { kind, status, usage }: ModelFailure,
    cause: unknown,
  ): void {
    if (usage) count(provider.name, usage)
    call.onAttempt?.({ model, usage, failure: { kind, status } })
    // The error itself has the request and the answer of the provider, which are the user's.
    const reason = cause instanceof Error ? redact(cause.message).slice(0, 300) : undefined
    const level = kind === 'cancelled' ? 'debug' : 'warn'
    log[level]({ model, kind, status, reason }, 'A model gave no answer')
  }

  function count(provider: string, usage: ModelUsage): void {
    metrics.modelTokens.inc({ provider, kind: 'input' }, usage.inputTokens)
    metrics.modelTokens.inc({ provider, kind: 'output' }, usage.outputTokens)
    metrics.modelCost.inc({ provider }, costOf(usage))
  }

  async function* askTwice<Piece, Answer extends { usage: ModelUsage }>(
    call: ProviderCall<Piece, Answer>,
    candidate: Candidate,
    signal: AbortSignal,
  ): AsyncGenerator<Piece, Answer, void> {
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

  return async function* (call) {
    const begin = performance.now()
    const since = () => Math.round(performance.now() - begin)
    const limit = AbortSignal.timeout(timeoutMilliseconds)
    const signal = call.signal ? AbortSignal.any([call.signal, limit]) : limit
    const failures: { id: string; failure: ModelFailure }[] = []
    let ttft: number | undefined
    for (const candidate of call.candidates) {
      try {
        const asked = askTwice(call, candidate, signal)
        let next = await asked.next()
        for (; !next.done; next = await asked.next()) {
          ttft ??= since()
          yield next.value
        }
        return { answer: next.value, candidate, latency: since(), ttft, fallbackPath: failures.map(({ id }) => id) }
      } catch (failure) {
        if (!(failure instanceof ModelFailure)) throw failure
        failures.push({ id: candidate.id, failure })
        if (signal.aborted || ttft !== undefined || failure.isOverMemory) break
      }
    }
    throw new NoAnswerError(failures)
  }
}

/** The slots of a provider. A bot has at most half of them, so that one bot does not use up the rate of the operator's account. */
function slotsOf(max: number): TenantSlots {
  const maxOfTenant = Math.ceil(max / 2)
  return new TenantSlots({ max, maxOfTenant, maxWaitingOfTenant: waitingForEachSlot * maxOfTenant })
}

/**
 * Takes a slot of the process, and one of those that all processes share.
 *
 * @returns gives both back, at its first call
 * @throws ModelFailure when the time is over before, the error of the database
 */
async function takeSlots(
  { inFlight, sharedSlots }: CallTelemetry,
  slots: TenantSlots,
  { provider: { name, isOwn = false } }: Candidate,
  { botId, signal }: { botId: string; signal: AbortSignal },
): Promise<() => void> {
  const busy = (cause: unknown) =>
    new ModelFailure('busy', `Too many calls of the provider ${name} are in flight`, { cause })
  const leave = await slots.take(botId, { signal }).catch((cause: unknown) => {
    throw busy(cause)
  })
  let free: (() => void) | undefined
  try {
    // A workspace's own key belongs to an account of its own.
    free = isOwn ? undefined : await sharedSlots?.take(name, botId, signal)
  } catch (cause) {
    leave()
    if (!signal.aborted) throw cause
    throw busy(cause)
  }
  inFlight.set(name, (inFlight.get(name) ?? 0) + 1)
  return () => {
    if (!leave()) return
    inFlight.set(name, inFlight.get(name)! - 1)
    free?.()
  }
}

/** The sum of both costs of a usage. */
export function costOf({ inputCost, outputCost }: ModelUsage): number {
  return inputCost + outputCost
}

/** A library that ignores the signal does not hold the caller. */
export async function orAborted<Result>(promise: PromiseLike<Result>, signal: AbortSignal): Promise<Result> {
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
