import type { EmbeddingsSettings } from '../config/embeddings-settings.ts'
import { isRecord } from '../models/payload.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { openVectorMemory, type VectorMemory } from './vector-memory.ts'

/** Makes vectors of texts, whose distance says how much the texts are about the same thing. */
export interface Embeddings {
  /** Vectors of different models are never compared. */
  model: string
  /**
   * Makes a vector of length 1 of each text of passages. A process sends few such requests at a time.
   *
   * @throws EmbeddingsError when the endpoint fails, answers otherwise than agreed, or failed a moment ago
   */
  embedPassages(texts: string[]): Promise<Float32Array[]>
  /** The same for a question, whose request waits for it. */
  embedQuestion(text: string): Promise<Float32Array>
  /** The vectors that searches of this process compare where the database has no pgvector. */
  memory: VectorMemory
}

/** The endpoint made no vectors. The message is for the person who uploaded the file: it has no text of the endpoint. */
export class EmbeddingsError extends Error {
  override name = 'EmbeddingsError'
}

/** Texts of one request. */
export const textsPerRequest = 16
/** The part of a text that its vector is made of: usual models accept 8191 tokens, and a token has a byte at least. */
const maxTextBytes = 8000
const maxDimensions = 4096
/** One number in an answer, at most. */
const numberBytes = 32
/** How long passages and questions wait for their vectors. */
const timeouts = { passages: 15_000, question: 2000 } as const
type Kind = keyof typeof timeouts
/** Requests for passages of one process at the same time. */
const maxRequests = 2
/** After a failure the endpoint is left alone for this long, and searches do not wait for it. */
const pauseMilliseconds = 10_000
/** Refusals of a text, which say nothing about others: a refused text does not delay those of other bots. */
const refusals = [400, 413, 422]

/** Opens the endpoint. Nothing is sent before the first text. */
export function openEmbeddings(settings: EmbeddingsSettings, metrics: Metrics): Embeddings {
  let pausedUntil = 0
  let inFlight = 0
  const waiting: (() => void)[] = []

  async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (inFlight >= maxRequests) await new Promise<void>((resolve) => void waiting.push(resolve))
    else inFlight++
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else inFlight--
    }
  }

  async function embed(kind: Kind, texts: string[]): Promise<Float32Array[]> {
    const pause = pausedUntil - performance.now()
    if (pause > 0) throw new PauseError(pause)
    const timeoutMilliseconds = timeouts[kind]
    const endTimer = metrics.embeddingSeconds.startTimer({ kind })
    try {
      const { vectors, tokens } = await request(settings, texts, timeoutMilliseconds)
      endTimer({ outcome: 'answered' })
      metrics.embeddedTexts.inc({ kind }, texts.length)
      metrics.embeddingTokens.inc(tokens)
      return vectors
    } catch (error) {
      endTimer({ outcome: error instanceof RefusalError ? 'refused' : 'failed' })
      if (error instanceof RefusalError) throw error
      pausedUntil = performance.now() + pauseMilliseconds
      if (error instanceof EmbeddingsError) throw error
      const isLate = error instanceof Error && error.name === 'TimeoutError'
      const how = isLate ? `did not answer within ${timeoutMilliseconds} ms` : 'cannot be reached'
      throw new EmbeddingsError(`The endpoint of embeddings ${how}`, { cause: error })
    }
  }

  return {
    model: settings.dimensions === undefined ? settings.model : `${settings.model}@${settings.dimensions}`,
    memory: openVectorMemory(settings.memoryBytes),
    embedPassages: (texts) => inTurn(() => embed('passages', texts)),
    embedQuestion: async (text) => (await embed('question', [text]))[0]!,
  }
}

/** The text itself was refused. */
class RefusalError extends EmbeddingsError {}

/** The endpoint failed a moment ago and was not asked. */
export class PauseError extends EmbeddingsError {
  readonly milliseconds: number

  /** @param milliseconds until it is asked again */
  constructor(milliseconds: number) {
    super('The endpoint of embeddings failed a moment ago')
    this.milliseconds = milliseconds
  }
}

async function request(
  { url, key, model, dimensions }: EmbeddingsSettings,
  texts: string[],
  timeoutMilliseconds: number,
): Promise<{ vectors: Float32Array[]; tokens: number }> {
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
    const Kind = refusals.includes(answer.status) ? RefusalError : EmbeddingsError
    throw new Kind(`The endpoint of embeddings answered with status ${answer.status}`, { cause })
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
    if (bytes > maxBytes) throw new EmbeddingsError('The endpoint of embeddings answered with too long a body')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/**
 * Reads the vectors of an answer, in the order of the texts, and the number of tokens that it names; 0 where it names none.
 *
 * @throws EmbeddingsError when it is not that of an OpenAI-compatible endpoint to this many texts
 */
export function readAnswer(
  text: string,
  count: number,
  dimensions?: number,
): { vectors: Float32Array[]; tokens: number } {
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
  const isCount = Number.isSafeInteger(tokens) && Number(tokens) >= 0
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
  return new EmbeddingsError(`The answer of the endpoint of embeddings ${how}`)
}
