import { setTimeout as sleep } from 'node:timers/promises'
import type { WebSocket } from 'ws'
import type { Connection } from './connection.ts'

/** Buffered bytes of a socket up to which more of the log is read for it. */
const lowWaterBytes = 64 * 1024
const pollMilliseconds = 10
/** The close code on which clients reconnect. */
const goingAway = 1001

/** Wraps a WebSocket as a stream of text frames. Frames of the client are ignored. */
export function openWebSocketStream(socket: WebSocket): Connection {
  const isClosed = () => socket.readyState === socket.CLOSING || socket.readyState === socket.CLOSED
  // A close event follows each error, and is handled.
  socket.on('error', () => {})
  return {
    send(text) {
      if (!isClosed()) socket.send(text)
    },
    unreadBytes: () => socket.bufferedAmount,
    async drained() {
      while (!isClosed() && socket.bufferedAmount > lowWaterBytes) await sleep(pollMilliseconds)
    },
    end: () => socket.close(goingAway),
    destroy: () => socket.terminate(),
    isClosed,
    onClose: (callback) => socket.once('close', callback),
  }
}
