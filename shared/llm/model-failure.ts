import { InvalidResponseDataError } from '@ai-sdk/provider'
import { ApiError } from '../errors.ts'
import type { Candidate } from './choose-models.ts'
import type { FailureKind, ModelUsage } from '../models/language-model.ts'
import { AnswerTooLongError } from './guarded-fetch.ts'
import { overMemory, OverMemoryError } from './media-memory.ts'
import { BrokenStreamError } from './streamed-answer.ts'

/** The failure of one model. Its message is for the caller, and has no secret of the operator. */
export class ModelFailure extends Error {
  override name = 'ModelFailure'
  readonly kind: FailureKind
  /** The status of the provider's answer, if there was one. */
  readonly status: number | undefined
  /** The provider asks for a pause of this many seconds. */
  readonly retryAfterSeconds: number | undefined
  /** Whether the same model may answer a moment later. */
  readonly mayPass: boolean
  /** The answer came, and this process has no memory for it: no other model is asked. */
  readonly isOverMemory: boolean
  /** The usage that the provider may bill in spite of the failure, by estimate. */
  usage: ModelUsage | undefined

  constructor(
    kind: FailureKind,
    message: string,
    options: ErrorOptions & {
      status?: number
      retryAfterSeconds?: number
      mayPass?: boolean
      isOverMemory?: boolean
    } = {},
  ) {
    super(message, options)
    this.kind = kind
    this.status = options.status
    this.retryAfterSeconds = options.retryAfterSeconds
    this.mayPass = options.mayPass ?? false
    this.isOverMemory = options.isOverMemory ?? false
  }

  /** Whether the provider may have made an answer, which it bills. */
  get mayBeBilled(): boolean {
    return this.isOverMemory || ['malformed', 'timeout', 'broken', 'cancelled'].includes(this.kind)
  }
}

/** A stream was silent for too long. */
export class IdleStreamError extends Error {
  override name = 'IdleStreamError'
}

/** The answer of a provider is not what was asked for. */
export class MalformedAnswerError extends Error {
  override name = 'MalformedAnswerError'
}

/** No model answered, or an answer ended within. The error is for the caller. */
export class NoAnswerError extends ApiError {
  /** The usage that providers may bill in spite of the failure, by estimate. */
  readonly billed: { model: string; usage: ModelUsage }[]
  /** The last failure. */
  readonly last: { model: string; kind: FailureKind; status: number | undefined }
  /** Whether a model may answer another request: it refuses this one, or fails on it. */
  readonly isOfRequest: boolean

  constructor(failures: readonly { id: string; failure: ModelFailure }[]) {
    const { type, message, options } = noAnswer(failures)
    super(type, message, options)
    const { id, failure } = failures.at(-1)!
    this.last = { model: id, kind: failure.kind, status: failure.status }
    this.isOfRequest = failures.some(({ failure: { kind, status } }) => kind === 'refused' || brokenBy.has(status))
    this.billed = failures.flatMap(({ id, failure: { usage } }) => (usage ? [{ model: id, usage }] : []))
  }
}

/** Statuses by which a provider refuses the request itself, with a message for its author. */
const refusals = new Set([400, 404, 413, 422])
/** Statuses of servers of models that fail on what they do not support: llama.cpp and Ollama on pictures, without a model that sees. */
const brokenBy = new Set<number | undefined>([500, 501])
const maxQuote = 300

/** The fields of a library's error that are read here (`APICallError`). */
interface CallError extends Error {
  statusCode?: number
  isRetryable?: boolean
  responseHeaders?: Record<string, string>
}

/**
 * Describes the failure of a call. The texts of a provider are quoted only where it refuses the request itself, and
 * without secrets: other answers concern the operator, whose key they may repeat.
 *
 * @param cause as the provider's library threw it
 * @param redact removes the keys of all providers from a text
 * @param isCancelled whether the caller wants no answer any more
 * @param hasBegun whether a part of the answer has been given to the caller
 */
export function toFailure(
  cause: unknown,
  { id, provider }: Candidate,
  {
    signal,
    isCancelled,
    redact,
    isStreamed,
    hasBegun,
  }: {
    signal: AbortSignal
    isCancelled: boolean
    redact: (text: string) => string
    isStreamed: boolean
    hasBegun: boolean
  },
): ModelFailure {
  if (isCancelled) return new ModelFailure('cancelled', 'The call was cancelled', { cause })
  if (signal.aborted) return new ModelFailure('timeout', `${id} did not answer in time`, { cause })
  if (hasCause(cause, AnswerTooLongError)) return new ModelFailure('malformed', `${id} answered too much`, { cause })
  if (hasCause(cause, OverMemoryError)) {
    return new ModelFailure('busy', `The answer of ${id} cannot be held: ${overMemory}`, { cause, isOverMemory: true })
  }
  if (cause instanceof MalformedAnswerError) {
    return new ModelFailure('malformed', `${id}: ${cause.message}`, { cause })
  }
  if (cause instanceof IdleStreamError) {
    return new ModelFailure('timeout', `${id} wrote nothing for too long`, { cause })
  }
  // After the start of an answer, all failures end it within.
  const { statusCode: status, isRetryable = false, responseHeaders = {}, message } = cause as CallError
  const hasSucceeded = status !== undefined && status >= 200 && status < 300
  if (hasBegun || cause instanceof BrokenStreamError || (isStreamed && hasSucceeded)) {
    return new ModelFailure('broken', `The provider ${provider.name} broke off its answer`, {
      cause,
      mayPass: !hasBegun,
    })
  }
  const { name } = provider
  if (InvalidResponseDataError.isInstance(cause) || hasSucceeded) {
    return new ModelFailure('malformed', `The provider ${name} answered with something else than an answer`, {
      cause,
      // Libraries name no status of an answer in which they miss something.
      status: status ?? 200,
    })
  }
  if (status === undefined) {
    // Libraries refuse what the provider does not support before they send it.
    if (isOfLibrary(cause) && !isRetryable) {
      return new ModelFailure('refused', `${id} does not support the request: ${quote(redact(message))}`, { cause })
    }
    return new ModelFailure('unreachable', `The provider ${name} cannot be reached`, { cause, mayPass: true })
  }
  if (status === 429) {
    const seconds = Number(responseHeaders['retry-after'])
    const retryAfterSeconds = Number.isFinite(seconds) && seconds > 0 ? Math.min(Math.ceil(seconds), 3600) : 1
    return new ModelFailure('limited', `The provider ${name} limits the rate of calls`, {
      cause,
      status,
      retryAfterSeconds,
      mayPass: true,
    })
  }
  if (refusals.has(status)) {
    return new ModelFailure('refused', `${id} refuses the request (${status}): ${quote(redact(message))}`, {
      cause,
      status,
    })
  }
  if (status === 401 || status === 403) {
    const remedy = provider.isOwn
      ? "the workspace's own key: an administrator has to check it, with setModelKey"
      : 'the platform: the operator has to check its key and account'
    return new ModelFailure('failed', `The provider ${name} refuses (${status}) ${remedy}`, {
      cause,
      status,
    })
  }
  return new ModelFailure('failed', `The provider ${name} failed (${status})`, { cause, status, mayPass: isRetryable })
}

/**
 * The error of a call that no model answered. Its status is one that published clients do not repeat the call for: a call
 * of theirs is already several, and the gateway has tried again.
 */
function noAnswer(failures: readonly { id: string; failure: ModelFailure }[]) {
  const last = failures.at(-1)!.failure
  const text = `No model answered: ${failures.map(({ failure }) => failure.message).join('; ')}`
  const metadata = {
    subtype: 'UPSTREAM_PROVIDER_FAILED',
    provider: 'unknown',
    failures: failures.map(({ id, failure: { kind, status } }) => ({ model: id, kind, ...(status && { status }) })),
  }
  if (failures.every(({ failure: { kind } }) => kind === 'limited' || kind === 'busy')) {
    const retryAfterSeconds = last.retryAfterSeconds ?? 1
    return { type: 'RateLimited', message: text, options: { cause: last, metadata, retryAfterSeconds } } as const
  }
  return { type: 'Runtime', message: text, options: { cause: last, metadata } } as const
}

function isOfLibrary(error: unknown): boolean {
  return error instanceof Error && error.name.startsWith('AI_') && error.name !== 'AI_APICallError'
}

function hasCause(error: unknown, Kind: typeof AnswerTooLongError | typeof OverMemoryError): boolean {
  for (let each = error, depth = 0; each instanceof Error && depth < 10; each = each.cause, depth++) {
    if (each instanceof Kind) return true
  }
  return false
}

function quote(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > maxQuote ? `${line.slice(0, maxQuote)}…` : line
}
