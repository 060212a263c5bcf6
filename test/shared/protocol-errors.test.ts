import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { answerProtocolErrors } from '#shared/protocol-errors.ts'

test.each([
  ['headers', 'GET / HTTP/1.1\r\n'],
  ['a body', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{'],
])('%s that do not come in time are answered 408, with the body of every error', async (_what, bytes) => {
  const server = createServer({ headersTimeout: 50, requestTimeout: 50, connectionsCheckingInterval: 20 }, () => {})
  answerProtocolErrors(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  try {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.write(bytes)
    const [head, body] = (await text(socket)).split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 408 /)
    expect(JSON.parse(body!)).toMatchObject({ code: 408, type: 'OperationTimeout', message: expect.any(String) })
  } finally {
    server.closeAllConnections()
    server.close()
  }
})
