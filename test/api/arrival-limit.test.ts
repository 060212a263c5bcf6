import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { answerProtocolErrors } from '#shared/protocol-errors.ts'
import { limitArrival } from '../../api/arrival-limit.ts'

async function begin(path: string) {
  const server = createServer((incoming, response) => void incoming.resume().once('end', () => response.end('{}')))
  answerProtocolErrors(server)
  limitArrival(server, 100)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const outgoing = request({ port: (server.address() as AddressInfo).port, path, method: 'PUT' })
  outgoing.on('error', () => {})
  onTestFinished(() => {
    outgoing.destroy()
    server.close()
  })
  outgoing.write('a')
  return { server, outgoing }
}

test('a body that does not arrive in time is answered 408', async () => {
  const { outgoing } = await begin('/v1/files')
  const [response] = await once(outgoing, 'response')
  expect(response.statusCode).toBe(408)
  expect(await json(response)).toMatchObject({ type: 'OperationTimeout' })
})

test('an upload of a file may take hours', async () => {
  const other = await begin('/v1/files')
  const { server, outgoing } = await begin('/files/upload/token')
  expect(server.requestTimeout).toBeGreaterThanOrEqual(3600 * 1000)
  await once(other.outgoing, 'response')
  outgoing.end('b')
  const [response] = await once(outgoing, 'response')
  expect(response.statusCode).toBe(200)
})
