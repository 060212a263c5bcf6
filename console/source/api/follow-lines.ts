import type { AnswerOf, OperationName } from '../../../shared/openapi/answer-of.ts'
import { Failure, type Query } from './ask.ts'
import { linesOf } from './lines.ts'

/** Longer than the time between two lines of a connection that is alive. */
const silentMilliseconds = 50_000
const maxPauseMilliseconds = 30_000

interface Following<Line> {
  query?: Query
  onLine: (line: Line) => void
  /** Called when the connection is lost, and not by the signal: until the next line, nothing is told. */
  onLost: () => void
}

/**
 * Follows the lines of an operation of the Admin API that streams. Connections that end or fall silent are made again, until the
 * signal ends that or the server refuses the member.
 */
export async function followLines<Name extends OperationName>(
  path: string,
  abort: AbortSignal,
  { query = {}, onLine, onLost }: Following<AnswerOf<Name>>,
): Promise<void> {
  for (let failures = 0; ; failures++) {
    const silence = new AbortController()
    let timer = setTimeout(() => silence.abort(), silentMilliseconds)
    let isRefused = false
    try {
      for await (const line of linesOf<Name>(path, query, AbortSignal.any([abort, silence.signal]))) {
        clearTimeout(timer)
        timer = setTimeout(() => silence.abort(), silentMilliseconds)
        failures = 0
        onLine(line)
      }
    } catch (error) {
      // The role has changed, or the resource is gone: the page shows the refusal of its other requests.
      if (error instanceof Failure && (error.status === 403 || error.status === 404)) isRefused = true
    } finally {
      clearTimeout(timer)
    }
    if (abort.aborted) return
    onLost()
    if (isRefused) return
    await pause(Math.min(maxPauseMilliseconds, 1000 * 2 ** failures) * (0.5 + Math.random() / 2), abort)
    if (abort.aborted) return
  }
}

function pause(milliseconds: number, abort: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    abort.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
