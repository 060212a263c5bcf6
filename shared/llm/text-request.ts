import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { GenerateTextInput, ModelUsage } from '../models/language-model.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { maxAnswerOf } from './catalogue.ts'
import type { Candidate } from './choose-models.ts'
import { estimateTokens } from './estimate.ts'
import { fromResult, toUsage, type ModelAnswer } from './from-result.ts'
import { IdleStreamError } from './model-failure.ts'
import { orAborted, type ModelRequest } from './provider-calls.ts'
import { StreamedAnswer, type Piece } from './streamed-answer.ts'
import { stopsOf, toCall } from './to-call.ts'

/** A model whose first text takes longer than this is assumed to think in secret, with so many tokens a second. */
const usualFirstTextSeconds = 1
const hiddenTokensPerSecond = 100

/** The parts that all requests of a call for a text share. */
interface TextCall {
  input: GenerateTextInput
  /** Whether the answer is wanted in pieces. */
  isStreamed: boolean
  /** Upper bound of the time between two parts of a streamed answer. */
  idleMilliseconds: number
  metrics: Metrics
}

/**
 * Makes the request for a text to a model.
 *
 * @throws ApiError `InvalidPayload` when a message contradicts its type
 */
export function textRequest(
  { input, isStreamed, idleMilliseconds, metrics }: TextCall,
  candidate: Candidate,
): ModelRequest<Piece, ModelAnswer> {
  const options = toCall(input, candidate.provider)
  const estimate = estimateTokens(input)
  const stops = stopsOf(input)
  const streamed = isStreamed ? new StreamedAnswer(stops) : undefined
  let hasBegun = false
  let hiddenSeconds = 0
  return {
    isStreamed,
    get hasBegun() {
      return hasBegun
    },
    async *send(provider, { signal, abortSignal }) {
      const begin = performance.now()
      const opened = await provider.text(candidate.model)
      if (streamed) {
        const endWait = metrics.modelFirstToken.startTimer({ provider: candidate.provider.name })
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
      return fromResult(result, candidate, { stops, estimate: estimate.input })
    },
    billed() {
      // Before its first text a model may have written much that is not shown.
      const expected = expectedOutput(candidate, estimate.output)
      const hidden = Math.min(expected, Math.round(hiddenSeconds * hiddenTokensPerSecond))
      const output = streamed && hasBegun ? streamed.tokens + hidden : expected
      return toUsage(candidate, { input: estimate.input, output })
    },
  }
}

/** The usage that a call is assumed to have with a model. */
export function expectedUsage(input: GenerateTextInput, candidate: Candidate): ModelUsage {
  const tokens = estimateTokens(input)
  return toUsage(candidate, { input: tokens.input, output: expectedOutput(candidate, tokens.output) })
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
