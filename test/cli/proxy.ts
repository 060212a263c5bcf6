import { once } from 'node:events'
import { createServer, request as send, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An answer in the place of the platform's. */
export interface OwnAnswer {
  /** Without one, the connection is closed. */
  status?: number
  /** Whether the platform gets the request nevertheless, and has answered it before. */
  isPassedOn?: boolean
  headers?: Record<string, string>
  body?: string
}

export interface Proxy extends AsyncDisposable {
  readonly url: string
  /** Method and path of each request. */
  readonly requests: string[]
}

/** Opens a proxy before a platform. @param answer an answer of the proxy's own; undefined passes the request on */
export async function openProxy(
  target: string,
  answer: (request: IncomingMessage) => OwnAnswer | undefined,
): Promise<Proxy> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    const own = answer(request)
    const answerOwn = ({ status, headers, body }: OwnAnswer) => {
      if (status === undefined) response.destroy()
      else response.writeHead(status, headers).end(body)
    }
    if (own && own.isPassedOn !== true) {
      request.resume()
      answerOwn(own)
      return
    }
    const { method, headers, url } = request
    const passed = send(new URL(url!, target), { method, headers }, (answered) => {
      if (own) {
        answered.resume().on('end', () => answerOwn(own))
        return
      }
      response.writeHead(answered.statusCode!, answered.headers)
      answered.pipe(response)
    })
    passed.on('error', () => response.destroy())
    request.pipe(passed)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await server[Symbol.asyncDispose]()
    },
  }
}

/** A page of a proxy. */
export function page(words: string): string {
  return `<html>\n<head><title>${words}</title></head></html>`
}
