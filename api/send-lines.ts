import { once } from 'node:events'
import type { Response } from 'express'
import type { FormattedLines } from '#shared/dispatch.ts'
import { endUnreadAnswer, unreadMilliseconds } from './unread-limit.ts'

/** Sends the lines of a stream, each as it comes, no faster than the client reads. */
export async function sendLines(response: Response, { lines, cancel, format }: FormattedLines): Promise<void> {
  response.set({
    'Content-Type': `${format.contentType}; charset=utf-8`,
    'Cache-Control': 'no-cache, no-transform',
    'X-Accel-Buffering': 'no',
  })
  // Also while no line comes.
  response.once('close', cancel)
  try {
    for await (const line of lines) {
      if (response.closed) return
      if (!response.write(format.write(line))) await drained(response)
    }
    response.end(format.end ?? '')
  } catch {
    response.destroy()
  }
}

/** Resolves when the client has read what was sent, or has gone. */
async function drained(response: Response): Promise<void> {
  const over = new AbortController()
  const timer = setTimeout(() => endUnreadAnswer(response), unreadMilliseconds)
  const options = { signal: over.signal }
  await Promise.race([once(response, 'drain', options), once(response, 'close', options)]).catch(() => {})
  clearTimeout(timer)
  over.abort()
}
