import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'

/** A server that sends a response of so many bytes and closes the connection, as after its time of keep-alive. */
export interface ClosingServer extends AsyncDisposable {
  port: number
  /** Sends the bytes of the body, after those of the head, and closes. Resolves when the client has closed, too. */
  sendBody(): Promise<void>
}

/** Starts it on 127.0.0.1, for one request. */
export async function startClosingServer(bytes: number): Promise<ClosingServer> {
  const { promise: asked, resolve } = Promise.withResolvers<Socket>()
  const server = createServer((socket) => {
    socket
      .on('error', () => {})
      .once('data', () => {
        const head = `HTTP/1.1 200 OK\r\ncontent-length: ${bytes}\r\n\r\n`
        socket.write(head, () => resolve(socket))
      })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async sendBody() {
      const socket = await asked
      const closed = once(socket, 'close')
      socket.end(Buffer.alloc(bytes, 'x'))
      await closed
    },
    async [Symbol.asyncDispose]() {
      server.close()
      await once(server, 'close')
    },
  }
}
