import { buffer } from 'node:stream/consumers'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'

/** Bytes of `GET /stream`. */
export const streamBytes = 400_000

const chunk = Buffer.alloc(streamBytes / 8, 'x')

function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

/** The server of the matrix; the paths below `/v1/` are those of stripe. */
export async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = new URL(request.url!, 'http://server').pathname
  const { headers } = request
  switch (path) {
    case '/json':
      return sendJson(response, { hello: 'world', given: headers['x-given'] })
    case '/v1/products/json':
      return sendJson(response, { id: 'json', object: 'product', metadata: { hello: 'world', given: 'yes' } })
    case '/echo': {
      const body = JSON.parse(String(await buffer(request))) as unknown
      return sendJson(response, { type: headers['content-type']?.split(';')[0], body })
    }
    case '/v1/customers': {
      const form = new URLSearchParams(String(await buffer(request)))
      return sendJson(response, { name: { type: 'application/json', body: { text: form.get('name') } } })
    }
    case '/auth':
      return sendJson(response, { user: atob(headers.authorization?.split(' ')[1] ?? '') })
    case '/v1/balance':
      return sendJson(response, {
        object: { user: headers.authorization === 'Bearer secret' ? 'ada:secret' : 'nobody' },
      })
    case '/redirect':
      return void response.writeHead(302, { location: '/json' }).end()
    case '/gzip':
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
      return void response.end(gzipSync(JSON.stringify({ hello: 'compressed' })))
    case '/422':
      return sendJson(response, { detail: 'no' }, 422)
    case '/v1/products/422':
      return sendJson(response, { error: { message: 'no', detail: 'no' } }, 422)
    case '/form':
    case '/v1/files': {
      const body = String(await buffer(request))
      const isForm = headers['content-type']?.startsWith('multipart/form-data; boundary=')
      return sendJson(response, {
        isForm,
        hasFile: body.includes('file contents') && body.includes('filename="a.txt"'),
      })
    }
    case '/stream':
      response.writeHead(200, { 'content-type': 'application/octet-stream' })
      for (let sent = 0; sent < streamBytes; sent += chunk.length) {
        response.write(chunk)
        await new Promise((resolve) => setImmediate(resolve))
      }
      return void response.end()
    case '/count':
      return sendJson(response, (await buffer(request)).length)
  }
  // `/never` and `/v1/products/never` get no answer.
}
