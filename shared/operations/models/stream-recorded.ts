import type { ApiError } from '../../errors.ts'
import type { Piece } from '../../llm/streamed-answer.ts'
import type { GenerateTextChunk, GenerateTextInput, GenerateTextOutput } from '../../models/language-model.ts'
import type { BotContext } from '../../rpc/caller.ts'
import { recordPaidStream } from '../../rpc/journal.ts'
import { toLineStream, type LineStream } from '../../rpc/line-stream.ts'
import { promptText } from './call-text.ts'
import { cancellable, toLines } from './lines-of.ts'
import { meteredText } from './metered-text.ts'
import { failedCall, reportAnswer, reportFailure } from './report-call.ts'

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
  const { signal, cancel } = cancellable(context)
  const stream = await recordPaidStream(context, call, models.unrecorded, async function* () {
    return yield* meteredText(context, input, { isStreamed: true, signal })
  })
  if ('recorded' in stream) {
    const { recorded } = stream
    await reportAnswer(context, input, { answer: recorded, isReplayed: true })
    return toLineStream([...wholeOf(recorded), lastChunk(recorded)])
  }
  const lines = {
    piece: (piece: Piece): GenerateTextChunk => ({ created: now(), ...piece, finished: false }),
    last: lastChunk,
    failed: failedChunk,
  }
  return toLines(context, reported(context, input, stream.pieces), lines, cancel)
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

/** A recorded answer as a chunk. */
function wholeOf({ output, reasoning }: GenerateTextOutput): GenerateTextChunk[] {
  if (output === '' && reasoning === undefined) return []
  return [{ created: now(), output, ...(reasoning !== undefined && { reasoning }), finished: false }]
}

function lastChunk({ toolCalls, metadata }: GenerateTextOutput): GenerateTextChunk {
  return { created: now(), output: '', finished: true, ...(toolCalls && { toolCalls }), metadata }
}

function failedChunk({ message: error }: ApiError, cause: unknown): GenerateTextChunk {
  const metadata = { ...failedCall(cause), stopReason: 'other' as const }
  return { created: now(), output: '', finished: true, error, metadata }
}

function now(): number {
  return Math.floor(Date.now() / 1000)
}
