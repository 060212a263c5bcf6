import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import type { Response } from 'express'
import { expect, onTestFinished, test } from 'vitest'
import express from 'express'
import { unavailable, type ApiError } from '#shared/errors.ts'
import { JsonList } from '#shared/json/json-list.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { openMetrics } from '#shared/telemetry/metrics.ts'
import { megabyte } from '#shared/units.ts'
import { scopeRequests } from '../../api/request-scope.ts'
import { sendJson } from '../../api/send-json.ts'

/** Starts a server. @returns its port */
async function serve(answer: (response: Response) => void, metrics = openMetrics(false)): Promise<number> {
  const app = express()
  app.use((_request, response: Response) => answer(response))
  app.use((error: ApiError, _request: unknown, response: Response, _next: unknown) => {
    response.status(error.status).json(error.toJSON())
  })
  const server = createServer(scopeRequests({ metrics, log: createLogger('api', 'silent') }, app))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

// More than the buffers of two sockets.
const text = 'x'.repeat(16 * megabyte)

function listOf(element: string): JsonList {
  const list = new JsonList<string>()
  for (let index = 0; index < 64; index += 1) list.add(element)
  return list
}

test.each([
  ['one text', () => ({ text })],
  ['a list that is JSON', () => ({ list: listOf('x'.repeat(megabyte / 4)) })],
])('a client that does not read an answer of %s is disconnected', async (_kind, bodyOf) => {
  const ends: boolean[] = []
  const metrics = openMetrics(false)
  const port = await serve((response) => {
    response.once('close', () => ends.push(response.writableFinished))
    sendJson(response, bodyOf(), { unreadMilliseconds: 200 })
  }, metrics)
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  socket.pause()
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await expect.poll(() => ends, { timeout: 10_000 }).toEqual([false])
  expect(await metrics.registry.metrics()).toContain('isobot_unread_disconnects_total{of="answer"} 1\n')
})

test('the bytes of large answers are counted before they are sent; a refused one is not sent', async () => {
  const counted: number[] = []
  const hold = (bytes: number) => {
    counted.push(bytes)
    if (bytes > 2 * megabyte) throw unavailable('There is no room', { retryAfterSeconds: 1 })
  }
  const bodies = [{ text: 'é'.repeat(megabyte / 2) }, { text: 'small' }, { text }]
  const port = await serve((response) => sendJson(response, bodies.shift(), { hold }))
  const statuses = []
  for (let index = 0; index < 3; index += 1) {
    const response = await fetch(`http://127.0.0.1:${port}/`)
    statuses.push(response.status)
    await response.arrayBuffer()
  }
  expect(counted).toEqual([megabyte + '{"text":""}'.length, text.length + '{"text":""}'.length])
  expect(statuses).toEqual([200, 200, 503])
})
