import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import type { Chat } from '../system.ts'

export const protocols = ['sse', 'websocket'] as const
export type Protocol = (typeof protocols)[number]

/** All streams read into one buffer: the data is consumed before the next read. */
const buffer = Buffer.alloc(64 * 1024)

/**
 * Opens a stream on a bare socket, so that thousands of listeners cost the measuring machine little. Resolves when the
 * server has accepted it.
 *
 * @param hear receives all later data, in chunks as they arrive
 * @throws Error when the server gives any other answer, or closes the connection
 */
export async function openStream(
  protocol: Protocol,
  chatUrl: string,
  chat: Chat,
  hear: (piece: string) => void,
): Promise<Socket> {
  const { hostname, port, host, pathname } = new URL(`${chatUrl}/conversations/${chat.conversationId}/listen`)
  const { promise: accepted, resolve, reject } = Promise.withResolvers<void>()
  let head: string | undefined = ''

  function receive(piece: string): void {
    if (head === undefined) return hear(piece)
    head += piece
    const end = head.indexOf('\r\n\r\n')
    if (end === -1) return
    const [statusLine = ''] = head.split('\r\n', 1)
    if (!statusLine.startsWith(protocol === 'sse' ? 'HTTP/1.1 200 ' : 'HTTP/1.1 101 ')) {
      return reject(new Error(`A stream was answered with "${statusLine}"`))
    }
    const rest = head.slice(end + '\r\n\r\n'.length)
    head = undefined
    resolve()
    if (rest !== '') hear(rest)
  }

  const socket = connect({
    host: hostname,
    port: Number(port),
    onread: {
      buffer,
      callback(length) {
        receive(buffer.toString('latin1', 0, length))
        return true
      },
    },
  })
  socket.on('error', reject)
  socket.on('close', () => reject(new Error('The server hung up')))
  socket.write(protocol === 'sse' ? eventStreamRequest(host, pathname, chat) : webSocketRequest(host, pathname, chat))
  try {
    await accepted
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  }
}

function eventStreamRequest(host: string, path: string, { key }: Chat): string {
  return `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: Mozilla/5.0\r\nAccept: text/event-stream\r\nX-User-Key: ${key}\r\n\r\n`
}

function webSocketRequest(host: string, path: string, { key }: Chat): string {
  return (
    `GET ${path}?x-user-key=${encodeURIComponent(key)} HTTP/1.1\r\nHost: ${host}\r\n` +
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n\r\n`
  )
}
