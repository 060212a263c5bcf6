import { createHash, randomBytes } from 'node:crypto'
import type { AnswerHead, LibraryWire } from '../../llm/library-wire.ts'
import type { GenerateTextChunk } from '../../models/language-model.ts'
import type { BotContext } from '../../rpc/caller.ts'
import type { LineStream } from '../../rpc/line-stream.ts'
import { askRecorded } from './ask-recorded.ts'
import { withOwnModels } from './own-models.ts'
import { streamRecorded } from './stream-recorded.ts'

/**
 * Answers a request in the language of another API as `generateText` does, or in lines as `generateTextStream`.
 *
 * @throws ApiError as these
 */
export async function askForLibrary<Body extends { model: string; stream?: boolean | null }, Answer>(
  given: BotContext,
  body: Body,
  wire: LibraryWire<Body>,
): Promise<Answer | LineStream> {
  const context = await withOwnModels(given)
  const input = wire.toInput(body)
  const head: AnswerHead = { id: answerId(given), model: body.model }
  if (body.stream !== true) return wire.toAnswer(await askRecorded(context, body, input), head) as Answer
  const { lines, cancel } = await streamRecorded(context, body, input)
  return { lines: translated(lines, wire.toLines(body, head)), cancel }
}

/** A repeated run of an event gets the same ids. */
function answerId({ caller: { execution } }: BotContext): string {
  if (!execution) return randomBytes(12).toString('hex')
  const { eventId, call } = execution
  return createHash('sha256')
    .update(JSON.stringify([eventId, call]))
    .digest('hex')
    .slice(0, 24)
}

/** An iterator and not a generator, whose end would not reach the chunks before the first of them was read. */
function translated(
  chunks: AsyncIterable<GenerateTextChunk>,
  toLines: (chunk: GenerateTextChunk) => object[],
): AsyncIterable<object> {
  const source = chunks[Symbol.asyncIterator]()
  const waiting: object[] = []
  const iterator: AsyncIterator<object> = {
    async next() {
      while (waiting.length === 0) {
        const { done, value } = await source.next()
        if (done) return { done, value: undefined }
        waiting.push(...toLines(value))
      }
      return { done: false, value: waiting.shift()! }
    },
    async return() {
      await source.return?.()
      return { done: true, value: undefined }
    },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}
