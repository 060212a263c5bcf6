import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer, type AddressInfo, type LookupFunction, type Socket } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { FetchRequest } from '#sandbox/protocol/contract.ts'
import { openMetrics, type Metrics } from '#shared/telemetry/metrics.ts'
import { openConnection, type ConnectionRequest, type Lease } from '../../../worker/outbound/connections.ts'
import { Deadline } from '../../../worker/outbound/deadline.ts'

const server = createServer({ allowHalfOpen: true }, (socket) => socket.on('error', () => {}).resume())
let metrics: Metrics
let ends: number
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => void server.close())
beforeEach(() => {
  metrics = openMetrics(false)
  ends = 0
})

const lookup: LookupFunction = (_host, _options, found) => found(null, [{ address: '127.0.0.1', family: 4 }])

function lease(signal?: AbortSignal): Lease {
  const deadline = new Deadline(10_000, signal)
  return {
    deadline,
    end() {
      ends += 1
      deadline.end()
    },
  }
}

/** Opens a connection for which code has nothing to send, and does not close it. */
function open() {
  const request: ConnectionRequest = {
    target: { host: '127.0.0.1', port: (server.address() as AddressInfo).port, portIsNamed: true, mayBePrivate: true },
    lookup,
    tls: undefined,
    content: new ReadableStream<Uint8Array>(),
    maxBytes: 1000,
    maxSentBytes: 1000,
    metrics,
    lease,
  }
  return openConnection(request, lease())
}

async function openCount(): Promise<number> {
  const { values } = await metrics.outboundConnections.get()
  return values[0]!.value
}

/** Calls `begin` with the next socket that connects. */
function atNextSocket(begin: (socket: Socket) => void): Disposable {
  const listener = (message: unknown) => begin((message as { socket: Socket }).socket)
  subscribe('net.client.socket', listener)
  return { [Symbol.dispose]: () => void unsubscribe('net.client.socket', listener) }
}

const secureRequest: FetchRequest = { url: 'tls://127.0.0.1', method: 'CONNECT', headers: {}, redirect: 'manual' }

test('a connection that is secured after its end counts as ended once', async () => {
  let client: Socket | undefined
  using _ = atNextSocket((socket) => (client = socket))
  const connection = await open()
  expect(await openCount()).toBe(1)
  client!.destroy()
  await expect.poll(openCount).toBe(0)
  expect(await connection.secure(secureRequest, new AbortController().signal)).toMatchObject({ failure: 'aborted' })
  expect(await openCount()).toBe(0)
})

test('a connection that another one has replaced is not secured again, and counts as ended once', async () => {
  const connection = await open()
  const signal = AbortSignal.timeout(200)
  const secured = connection.secure(secureRequest, signal)
  expect(await connection.secure(secureRequest, signal)).toMatchObject({ failure: 'aborted' })
  expect(await secured).toMatchObject({ failure: expect.any(String) })
  expect(await openCount()).toBe(0)
})

test('a connection whose socket closes in the moment in which it opens counts as ended, and its lease ends', async () => {
  using _ = atNextSocket((socket) => socket.once('connect', () => socket.destroy()))
  const connection = await open()
  expect({ open: await openCount(), ends }).toEqual({ open: 0, ends: 1 })
  const parts = []
  for await (const part of connection.parts) parts.push(part)
  expect(parts).toEqual([])
})
