import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Connection } from './connection.ts'

/** Turns a response into a stream of server-sent events. To clients its headers mean that it listens from now on. */
export function openEventStream(response: ServerResponse): Connection {
  response.writeHead(200, {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-cache, no-transform',
    'X-Accel-Buffering': 'no',
  })
  response.flushHeaders()
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
