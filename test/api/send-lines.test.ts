import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import type { Response } from 'express'
import { expect, test } from 'vitest'
import express from 'express'
import { newlineDelimited } from '#shared/json/line-format.ts'
import { sendLines } from '../../api/send-lines.ts'

test('a client that does not read stops the source; one that disconnects ends it', async () => {
  let taken = 0
  const ends: string[] = []
  const line = { text: 'x'.repeat(65_536) }
  const source: AsyncIterator<object> = {
    next: async () => {
      taken += 1
      return { done: false, value: line }
    },
    return: async () => {
      ends.push('returned')
      return { done: true, value: undefined }
    },
  }
  const lines = { [Symbol.asyncIterator]: () => source }
  const stream = { lines, cancel: () => void ends.push('cancelled'), format: newlineDelimited }
  const app = express()
  app.use((_request, response: Response) => sendLines(response, stream))
  const server = createServer(app)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.pause()
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  let last = 0
  await expect
    .poll(
      () => {
        const isStill = taken > 0 && taken === last
        last = taken
        return isStill
      },
      { interval: 200, timeout: 10_000 },
    )
    .toBe(true)
  // The buffers of two sockets.
  expect(taken).toBeLessThan(400)
  expect(ends).toEqual([])
  socket.destroy()
  await expect.poll(() => ends.toSorted()).toEqual(['cancelled', 'returned'])
  server.closeAllConnections()
  server.close()
})
