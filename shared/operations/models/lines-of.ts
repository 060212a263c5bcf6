import { ApiError } from '../../errors.ts'
import type { BotContext } from '../../rpc/caller.ts'
import type { LineStream } from '../../rpc/line-stream.ts'

/** How the pieces of a call, and its end, become lines. */
interface Lines<Piece, Answer, Line> {
  piece(piece: Piece): Line
  last(answer: Answer): Line
  /** The last line of a call that fails within. */
  failed(error: ApiError, cause: unknown): Line
}

/**
 * A call that comes in pieces as lines. Without a reader it goes on to its end, so that the answer is recorded and its usage
 * settled, unless it is cancelled.
 *
 * @param cancel ends the call
 * @throws the error of the call before its first piece
 */
export async function toLines<Piece, Answer, Line>(
  { log }: BotContext,
  pieces: AsyncGenerator<Piece, Answer, void>,
  { piece, last, failed }: Lines<Piece, Answer, Line>,
  cancel: () => void,
): Promise<LineStream<Line>> {
  let known: IteratorResult<Piece, Answer> | undefined = await pieces.next()
  let isOver = false

  async function read(): Promise<Line> {
    try {
      const next = known ?? (await pieces.next())
      known = undefined
      if (!next.done) return piece(next.value)
      isOver = true
      return last(next.value)
    } catch (cause) {
      isOver = true
      const error = ApiError.from(cause)
      if (!(cause instanceof ApiError)) log.error({ err: cause, errorId: error.id }, 'A stream of a model failed')
      return failed(error, cause)
    }
  }

  // An iterator and not a generator, whose end would do nothing before its first item was read.
  const iterator: AsyncIterator<Line> = {
    next: async () => (isOver ? { done: true, value: undefined } : { done: false, value: await read() }),
    async return() {
      if (!isOver) void drain(pieces)
      isOver = true
      return { done: true, value: undefined }
    },
  }
  return { lines: { [Symbol.asyncIterator]: () => iterator }, cancel }
}

async function drain(pieces: AsyncGenerator<unknown, unknown, void>): Promise<void> {
  try {
    while (!(await pieces.next()).done);
  } catch {
    // The gateway has logged it.
  }
}

/** A signal that is aborted when the caller has gone, or when the returned function is called. */
export function cancellable({ callerGone }: BotContext): { signal: AbortSignal; cancel: () => void } {
  const cancelled = new AbortController()
  const gone = callerGone?.()
  return {
    signal: gone ? AbortSignal.any([gone, cancelled.signal]) : cancelled.signal,
    cancel: () => cancelled.abort(),
  }
}
