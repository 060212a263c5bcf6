import type { AnswerOf, OperationName } from '../../../shared/openapi/answer-of.ts'
import { reach, refused, type Query } from './ask.ts'

/**
 * The lines of an operation of the Admin API that streams: `linesOf<'followInbox'>('/handovers/follow', {}, abort)`.
 *
 * @throws Failure when the server refuses, or the connection breaks
 */
export async function* linesOf<Name extends OperationName>(
  path: string,
  query: Query,
  abort: AbortSignal,
): AsyncGenerator<AnswerOf<Name>> {
  const response = await reach('GET', path, { query, abort })
  if (!response.ok) throw await refused(response)
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const lines = (rest + value).split('\n')
    rest = lines.pop()!
    for (const line of lines) if (line !== '') yield JSON.parse(line) as AnswerOf<Name>
  }
}
