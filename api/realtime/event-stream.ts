import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Connection } from './connection.ts'

/**
 * Interval of comments, which event sources skip, to clients that send no user agent. `@botpress/chat` in Node sends
 * none, and its event source reuses a connection of its requests. Node's HTTP agent and `follow-redirects` close a
 * connection that is silent for 5 s, even one that streams. Browsers send a user agent, and comments would only wake
 * phones.
 */
const commentMilliseconds = 2500

/** A comment, which event sources skip. */
const comment = ':\n\n'

/**
 * Turns a response into a stream of server-sent events. Clients take its headers as the start of the subscription; Firefox
 * gives a page the headers with the first byte of the body, which is therefore sent at once.
 */
export function openEventStream(response: ServerResponse): Connection {
  response.writeHead(200, {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-cache, no-transform',
    'X-Accel-Buffering': 'no',
  })
  response.write(comment)
  if (response.req.headers['user-agent'] === undefined) sendComments(response)
  return {
    send(text, id) {
      if (!response.writableEnded) response.write(`event: message\n${id ? `id: ${id}\n` : ''}data: ${text}\n\n`)
    },
    unreadBytes: () => response.writableLength,
    async drained() {
      if (response.closed || !response.writableNeedDrain) return
      const gone = new AbortController()
      await Promise.race([once(response, 'drain', gone), once(response, 'close', gone)]).catch(() => {})
      gone.abort()
    },
    end: () => response.end(),
    destroy: () => response.destroy(),
    isClosed: () => response.closed,
    onClose: (callback) => response.once('close', callback),
  }
}

function sendComments(response: ServerResponse): void {
  const timer = setInterval(() => {
    if (!response.writableEnded && !response.writableNeedDrain) response.write(comment)
  }, commentMilliseconds)
  response.once('close', () => clearInterval(timer))
}
