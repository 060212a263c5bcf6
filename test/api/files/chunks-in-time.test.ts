import { once } from 'node:events'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import express from 'express'
import { expect, onTestFinished, test } from 'vitest'
import { chunksInTime } from '../../../api/files/chunks-in-time.ts'

/** Serves an entry point that reads its body in time, and begins a request of it. */
async function begin(limits: { idle: number; all: number }, consume: () => Promise<unknown> = async () => {}) {
  const app = express()
  const { promise: outcome, resolve } = Promise.withResolvers<string>()
  app.put('/', async (incoming, response) => {
    try {
      let bytes = 0
      for await (const chunk of chunksInTime(incoming, response, limits)) {
        bytes += chunk.length
        await consume()
      }
      response.json({ bytes })
      resolve('complete')
    } catch {
      resolve('broken off')
    }
  })
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const outgoing = request({ port: (server.address() as AddressInfo).port, method: 'PUT' })
  outgoing.on('error', () => {})
  onTestFinished(() => {
    outgoing.destroy()
    server.close()
  })
  outgoing.write('a')
  return { outgoing, outcome }
}

test('a client that sends nothing is answered 408, and the reading ends', async () => {
  const { outgoing, outcome } = await begin({ idle: 50, all: 60_000 })
  const [response] = await once(outgoing, 'response')
  expect(response.statusCode).toBe(408)
  expect(await json(response)).toMatchObject({ code: 408, type: 'OperationTimeout' })
  expect(await outcome).toBe('broken off')
})

test('a client that sends a little now and then is broken off after the time of a whole upload', async () => {
  const { outgoing, outcome } = await begin({ idle: 60_000, all: 100 })
  const sending = setInterval(() => outgoing.write('a'), 10)
  onTestFinished(() => clearInterval(sending))
  const [response] = await once(outgoing, 'response')
  expect(response.statusCode).toBe(408)
  expect(await outcome).toBe('broken off')
})

test('a store that is slow does not make the client idle', async () => {
  const { outgoing, outcome } = await begin({ idle: 50, all: 60_000 }, () => pause(150))
  outgoing.end('b')
  const [response] = await once(outgoing, 'response')
  expect(response.statusCode).toBe(200)
  expect(await outcome).toBe('complete')
})
