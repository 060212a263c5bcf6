import { ApiError } from '../../errors.ts'
import { NoAnswerError } from '../../llm/model-failure.ts'
import type { Piece } from '../../llm/streamed-answer.ts'
import type { GenerateTextChunk, GenerateTextInput, GenerateTextOutput } from '../../models/language-model.ts'
import type { BotContext } from '../../rpc/caller.ts'
import { recordPaidStream } from '../../rpc/journal.ts'
import { toLineStream, type LineStream } from '../../rpc/line-stream.ts'
import { promptText } from './call-text.ts'
import { meteredText } from './metered-text.ts'
import { reportAnswer, reportFailure } from './report-call.ts'

type Pieces = AsyncGenerator<Piece, GenerateTextOutput, void>

/**
 * Asks for an answer in chunks once in an event, within the budgets, and adds the call to the event's timeline.
 *
 * @param call the input of the operation, which the journal compares
 * @throws ApiError as `meteredText`, before the first chunk
 */
export async function streamRecorded(
  context: BotContext,
  call: unknown,
  input: GenerateTextInput,
): Promise<LineStream<GenerateTextChunk>> {
  const { models } = context
  const cancelled = new AbortController()
  const gone = context.callerGone?.()
  const signal = gone ? AbortSignal.any([gone, cancelled.signal]) : cancelled.signal
  const stream = await recordPaidStream(context, call, models.unrecorded, async function* () {
    return yield* meteredText(context, input, { isStreamed: true, signal })
  })
  if ('recorded' in stream) {
    const { recorded } = stream
    await reportAnswer(context, input, { answer: recorded, isReplayed: true })
    return toLineStream([...wholeOf(recorded), lastChunk(recorded)])
  }
  const pieces = reported(context, input, stream.pieces)
  // An error before the first piece is the answer's.
  const first = await pieces.next()
  return { lines: chunksOf(context, first, pieces), cancel: () => cancelled.abort() }
}

/** Adds the call to the timeline at its end. */
async function* reported(context: BotContext, input: GenerateTextInput, pieces: Pieces): Pieces {
  try {
    const answer = yield* pieces
    await reportAnswer(context, input, { answer, isReplayed: false })
    return answer
  } catch (error) {
    await reportFailure(context, () => promptText(input), error)
    throw error
  }
}

/** An iterator and not a generator, whose end would do nothing before its first item was read. */
function chunksOf(
  { log }: BotContext,
  first: IteratorResult<Piece, GenerateTextOutput>,
  pieces: Pieces,
): AsyncIterable<GenerateTextChunk> {
  let known: typeof first | undefined = first
  let isOver = false

  async function read(): Promise<GenerateTextChunk> {
    try {
      const next = known ?? (await pieces.next())
      known = undefined
      if (!next.done) return { created: now(), ...next.value, finished: false }
      isOver = true
      return lastChunk(next.value)
    } catch (cause) {
      isOver = true
      const error = ApiError.from(cause)
      if (!(cause instanceof ApiError)) log.error({ err: cause, errorId: error.id }, 'A stream of a model failed')
      return failedChunk(error)
    }
  }

  const iterator: AsyncIterator<GenerateTextChunk> = {
    next: async () => (isOver ? { done: true, value: undefined } : { done: false, value: await read() }),
    async return() {
      // Without a reader, the answer is still recorded and its usage settled, unless the call is cancelled.
      if (!isOver) void drain(pieces)
      isOver = true
      return { done: true, value: undefined }
    },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}

async function drain(pieces: Pieces): Promise<void> {
  try {
    while (!(await pieces.next()).done);
  } catch {
    // The gateway has logged it.
  }
}

/** A recorded answer as a chunk. */
function wholeOf({ output, reasoning }: GenerateTextOutput): GenerateTextChunk[] {
  if (output === '' && reasoning === undefined) return []
  return [{ created: now(), output, ...(reasoning !== undefined && { reasoning }), finished: false }]
}

function lastChunk({ toolCalls, metadata }: GenerateTextOutput): GenerateTextChunk {
  return { created: now(), output: '', finished: true, ...(toolCalls && { toolCalls }), metadata }
}

function failedChunk(error: ApiError): GenerateTextChunk {
  const billed = error instanceof NoAnswerError ? error.billed.at(-1) : undefined
  const usage = billed?.usage ?? { inputTokens: 0, inputCost: 0, outputTokens: 0, outputCost: 0 }
  return {
    created: now(),
    output: '',
    finished: true,
    error: error.message,
    metadata: {
      provider: billed?.model.split(':', 1)[0] ?? 'unknown',
      model: billed?.model ?? 'unknown',
      usage,
      cost: usage.inputCost + usage.outputCost,
      cached: false,
      latency: 0,
      stopReason: 'other',
      fallbackPath: [],
    },
  }
}

function now(): number {
  return Math.floor(Date.now() / 1000)
}
