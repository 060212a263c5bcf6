import { LRUCache } from 'lru-cache'
import type { EmbeddingsSettings } from '../config/embeddings-settings.ts'
import type { FailureKind } from '../models/language-model.ts'
import { isRecord } from '../models/payload.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { openVectorMemory, type VectorMemory } from './vector-memory.ts'

/** Makes vectors of texts, whose distance says how much the texts are about the same thing. */
export interface Embeddings {
  /** The model with the requested dimensions. Vectors of different models are never compared. */
  model: string
  /** The provider's name of the model. */
  requestedModel: string
  /** The provider of language models that makes the vectors; absent for an endpoint of its own, which is not metered. */
  provider?: EmbeddingsSettings['provider']
  /**
   * Makes a vector of length 1 of each text: of passages, of which a process sends few requests at a time, or of a question,
   * whose request waits for it.
   *
   * @throws EmbeddingsError when the endpoint fails, answers otherwise than agreed, or failed a moment ago; as `pay` does
   */
  embed(kind: EmbeddedKind, texts: string[], payer?: Payer): Promise<Embedded>
  /** The vectors that searches of this process compare where the database has no pgvector. */
  memory: VectorMemory
}

export interface Embedded {
  vectors: Float32Array[]
  /** As the endpoint counts them; 0 where it does not. */
  tokens: number
}

/** Pays for a request. */
export interface Payer {
  /** A workspace's own key. Requests with it have an order and pauses of their own. */
  key?: string | undefined
  /** Makes the request within budgets. It is not called during a pause. */
  pay(request: () => Promise<Embedded>): Promise<Embedded>
}

/** The endpoint made no vectors. The message is for the person who uploaded the file: it has no text of the endpoint. */
export class EmbeddingsError extends Error {
  override name = 'EmbeddingsError'
  readonly kind: FailureKind
  /** The status of the endpoint's answer, if there was one. */
  readonly status: number | undefined

  constructor(kind: FailureKind, message: string, options: ErrorOptions & { status?: number } = {}) {
    super(message, options)
    this.kind = kind
    this.status = options.status
  }
}

/** The workspace's administrators can remove the cause: a budget that is used up, or a key that the provider refuses. */
export class UnpaidError extends EmbeddingsError {}

/** Texts of one request. */
export const textsPerRequest = 16
/** The part of a text that its vector is made of: usual models accept 8191 tokens, and a token has a byte at least. */
const maxTextBytes = 8000
/** A token has a byte at least, and models add few of their own. */
const maxTextTokens = 2 * maxTextBytes
const maxDimensions = 4096
/** One number in an answer, at most. */
const numberBytes = 32
/** How long passages and questions wait for their vectors. */
export const timeouts = { passages: 15_000, question: 2000 } as const
export type EmbeddedKind = keyof typeof timeouts
/** Requests for passages of one process with one key at the same time. */
const maxRequests = 2
/** After a failure the endpoint is left alone for this long, and searches do not wait for it. */
const pauseMilliseconds = 10_000
/** Refusals of a text. */
const refusals = [400, 413, 422]
/**
 * Failures that say nothing about other texts, which are not delayed by them: some models make no vector of some texts, or one
 * without a direction.
 */
const failuresOfTexts: FailureKind[] = ['refused', 'malformed']

/** Whether an endpoint makes no vectors of these texts, and may of others. */
export function isOfTexts(error: unknown): error is EmbeddingsError {
  return error instanceof EmbeddingsError && !(error instanceof UnpaidError) && failuresOfTexts.includes(error.kind)
}

/** The workspaces' own keys whose order and pauses a process remembers. */
const maxLanes = 1000

/** Opens the endpoint. Nothing is sent before the first text. */
export function openEmbeddings(settings: EmbeddingsSettings, metrics: Metrics): Embeddings {
  const operators = new Lane()
  const own = new LRUCache<string, Lane>({ max: maxLanes })

  function laneOf(key: string | undefined): Lane {
    if (key === undefined) return operators
    const lane = own.get(key) ?? new Lane()
    own.set(key, lane)
    return lane
  }

  async function ask(kind: EmbeddedKind, texts: string[], lane: Lane, ownKey?: string): Promise<Embedded> {
    lane.throwIfPaused()
    const timeoutMilliseconds = timeouts[kind]
    const endTimer = metrics.embeddingSeconds.startTimer({ kind })
    try {
      const { vectors, tokens } = await request(settings, texts, timeoutMilliseconds, ownKey)
      endTimer({ outcome: 'answered' })
      metrics.embeddedTexts.inc({ kind }, texts.length)
      metrics.embeddingTokens.inc(tokens)
      return { vectors, tokens }
    } catch (error) {
      const isRefused = error instanceof EmbeddingsError && error.kind === 'refused'
      endTimer({ outcome: isRefused ? 'refused' : 'failed' })
      if (isOfTexts(error)) throw error
      lane.pause()
      if (error instanceof EmbeddingsError) throw error
      const isLate = error instanceof Error && error.name === 'TimeoutError'
      const how = isLate ? `did not answer within ${timeoutMilliseconds} ms` : 'cannot be reached'
      throw new EmbeddingsError(isLate ? 'timeout' : 'unreachable', `${nameOf(settings)} ${how}`, { cause: error })
    }
  }

  return {
    model: settings.dimensions === undefined ? settings.model : `${settings.model}@${settings.dimensions}`,
    requestedModel: settings.model,
    ...(settings.provider && { provider: settings.provider }),
    memory: openVectorMemory(settings.memoryBytes),
    async embed(kind, texts, payer) {
      const lane = laneOf(payer?.key)
      lane.throwIfPaused()
      const make = () => ask(kind, texts, lane, payer?.key)
      const inTurn = kind === 'passages' ? () => lane.inTurn(make) : make
      return payer ? payer.pay(inTurn) : inTurn()
    },
  }
}

/** The requests with one key: their order, and the pause after a failure. */
class Lane {
  #pausedUntil = 0
  #inFlight = 0
  readonly #waiting: (() => void)[] = []

  pause(): void {
    this.#pausedUntil = performance.now() + pauseMilliseconds
  }

  /** @throws PauseError */
  throwIfPaused(): void {
    const pause = this.#pausedUntil - performance.now()
    if (pause > 0) throw new PauseError(pause)
  }

  async inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#inFlight >= maxRequests) await new Promise<void>((resolve) => void this.#waiting.push(resolve))
    else this.#inFlight++
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#inFlight--
    }
  }
}

/** The endpoint failed a moment ago and was not asked. */
export class PauseError extends EmbeddingsError {
  readonly milliseconds: number

  /** @param milliseconds until it is asked again */
  constructor(milliseconds: number) {
    super('busy', 'The endpoint of embeddings failed a moment ago')
    this.milliseconds = milliseconds
  }
}

function nameOf({ provider }: EmbeddingsSettings): string {
  return provider ? `The provider ${provider.name}` : 'The endpoint of embeddings'
}

/** The error of an answer that is none. */
function failureOf(settings: EmbeddingsSettings, status: number, isOwnKey: boolean, cause: Error): EmbeddingsError {
  const name = nameOf(settings)
  const options = { status, cause }
  if (isOwnKey && (status === 401 || status === 403)) {
    const remedy = "refuses the workspace's own key: an administrator has to check it, with setModelKey"
    return new UnpaidError('failed', `${name} (${status}) ${remedy}`, options)
  }
  const kind = refusals.includes(status) ? 'refused' : status === 429 ? 'limited' : 'failed'
  return new EmbeddingsError(kind, `${name} answered with status ${status}`, options)
}

async function request(
  settings: EmbeddingsSettings,
  texts: string[],
  timeoutMilliseconds: number,
  ownKey: string | undefined,
): Promise<Embedded> {
  const { url, model, dimensions } = settings
  const key = ownKey ?? settings.key
  const input = texts.map((text) => Buffer.from(text).subarray(0, maxTextBytes).toString())
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key !== undefined && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ model, input, ...(dimensions !== undefined && { dimensions }) }),
    // The key and the texts are for this address only.
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMilliseconds),
  })
  if (answer.status !== 200) {
    const text = await readBounded(answer, 4096).catch(() => '')
    const cause = new Error(`It answered: ${text.slice(0, 300)}`)
    throw failureOf(settings, answer.status, ownKey !== undefined, cause)
  }
  const text = await readBounded(answer, 16_384 + texts.length * maxDimensions * numberBytes)
  return readAnswer(text, texts.length, dimensions)
}

/** @throws EmbeddingsError when the body is longer */
async function readBounded({ body }: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  // Leaving the loop cancels the body.
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > maxBytes) throw wrong('is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/**
 * Reads the vectors of an answer, in the order of the texts, and the number of tokens that it names; 0 where it names none,
 * or one that the texts cannot have.
 *
 * @throws EmbeddingsError when it is not that of an OpenAI-compatible endpoint to this many texts
 */
export function readAnswer(text: string, count: number, dimensions?: number): Embedded {
  const answer = parse(text)
  const data = field(answer, 'data')
  if (!Array.isArray(data) || data.length !== count) throw wrong(`has not ${count} vectors`)
  const vectors: (Float32Array | undefined)[] = Array.from({ length: count })
  for (const [position, item] of data.entries()) {
    const index = field(item, 'index') ?? position
    if (typeof index !== 'number' || !(index in vectors) || vectors[index]) throw wrong('numbers its vectors wrongly')
    vectors[index] = toUnitVector(field(item, 'embedding'))
  }
  const length = dimensions ?? vectors[0]!.length
  if (vectors.some((vector) => vector!.length !== length)) {
    throw wrong(`has vectors of another length than ${length}`)
  }
  const tokens = field(field(answer, 'usage'), 'total_tokens')
  // A budget adds them: a wrong number must not use it up.
  const isCount = Number.isInteger(tokens) && Number(tokens) >= 0 && Number(tokens) <= count * maxTextTokens
  return { vectors: vectors as Float32Array[], tokens: isCount ? Number(tokens) : 0 }
}

function toUnitVector(given: unknown): Float32Array {
  if (!Array.isArray(given) || given.length === 0 || given.length > maxDimensions) {
    throw wrong(`has a vector without 1 to ${maxDimensions} numbers`)
  }
  if (!given.every((value) => typeof value === 'number')) throw wrong('has a vector of something else than numbers')
  const length = Math.hypot(...given)
  if (!Number.isFinite(length) || length === 0) throw wrong('has a vector without a direction')
  return Float32Array.from(given, (value: number) => value / length)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw wrong('is no JSON')
  }
}

function field(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined
}

function wrong(how: string): EmbeddingsError {
  return new EmbeddingsError('malformed', `The answer of the endpoint of embeddings ${how}`)
}
