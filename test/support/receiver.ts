import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request as a server received it. */
export interface Received {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
}

/** A server that records the requests it receives. */
export interface Receiver extends AsyncDisposable {
  url: string
  /** Its host and port. */
  host: string
  received: Received[]
}

/**
 * Starts a receiver.
 * @param answer returns the status for each request; 200 by default
 * @param body of each answer
 */
export async function openReceiver(
  answer: (request: Received) => number = () => 200,
  body = 'thank you',
): Promise<Receiver> {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { method = '', url: path = '', headers } = request
    const one = { method, path, headers, body: Buffer.concat(chunks).toString() }
    received.push(one)
    response.statusCode = answer(one)
    response.end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: `http://${host}`,
    host,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
