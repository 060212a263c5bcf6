import type { CallSite } from './call-site.ts'
import { apiError } from './errors.ts'
import { hasOwn, indexIn, isObject, NativeError, parse, sliceText } from './primordials.ts'
import type { Stream } from './streams.ts'

/**
 * Reads a reply in lines of JSON: the object that bot code gets from operations that stream. The call is made when the first
 * line is wanted. A loop that ends early cancels the call.
 *
 * Texts that arrive together are one line for the code.
 *
 * @param open makes the call
 * @throws the error of the call; ApiError `Runtime` when a line has an `error`, by which the platform ends a stream within
 */
export async function* readLines(open: () => Promise<Stream>, site: CallSite): AsyncGenerator<unknown, void, void> {
  const stream = await open()
  let isOver = false
  let begun = ''
  try {
    for (;;) {
      const { data, failure } = await stream.next('text')
      if (failure !== undefined) throw new NativeError(failure.message)
      isOver = data === undefined
      if (isOver) return
      const part = data as string
      let start = 0
      let waiting: unknown
      for (let end = indexIn(part, '\n'); end !== -1; end = indexIn(part, '\n', start)) {
        const line = parse(begun + sliceText(part, start, end)) as unknown
        begun = ''
        start = end + 1
        if (isObject(line) && hasOwn(line, 'error')) throw brokenOff(line['error'], site)
        if (join(waiting, line)) continue
        if (waiting !== undefined) yield waiting
        waiting = line
      }
      if (waiting !== undefined) yield waiting
      begun += sliceText(part, start)
    }
  } finally {
    if (!isOver) stream.cancel()
  }
}

/** Appends the text of a line to that of the line before it, if both have nothing else. @returns whether they are one now */
function join(before: unknown, line: unknown): boolean {
  if (!isPlainText(before) || !isPlainText(line)) return false
  before['output'] = `${before['output'] as string}${line['output'] as string}`
  return true
}

function isPlainText(line: unknown): line is Record<string, unknown> {
  return (
    isObject(line) && line['finished'] === false && typeof line['output'] === 'string' && !hasOwn(line, 'reasoning')
  )
}

function brokenOff(message: unknown, site: CallSite): Error {
  const metadata = { subtype: 'UPSTREAM_PROVIDER_FAILED' }
  return apiError(400, { id: '', code: 400, type: 'Runtime', message, metadata }, site)
}
