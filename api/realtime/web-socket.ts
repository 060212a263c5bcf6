import { setTimeout as sleep } from 'node:timers/promises'
import type { WebSocket } from 'ws'
import type { Connection } from './connection.ts'

/** What a socket may hold back before more is read for it. */
const nearlyEmptyBytes = 64 * 1024
const lookMilliseconds = 10
/** "Going away": clients connect again. */
const goingAway = 1001

/** Makes a WebSocket a stream of text frames. What the client sends is not read. */
export function openWebSocketStream(socket: WebSocket): Connection {
  const isClosed = () => socket.readyState === socket.CLOSING || socket.readyState === socket.CLOSED
  // The close that follows an error is what counts.
  socket.on('error', () => {})
  return {
    send(text) {
      if (!isClosed()) socket.send(text)
    },
    unreadBytes: () => socket.bufferedAmount,
    async drained() {
      while (!isClosed() && socket.bufferedAmount > nearlyEmptyBytes) await sleep(lookMilliseconds)
    },
    end: () => socket.close(goingAway),
    destroy: () => socket.terminate(),
    isClosed,
    onClose: (callback) => socket.once('close', callback),
  }
}
