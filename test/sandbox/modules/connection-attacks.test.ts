import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callRun, done, handlerThat } from '../fixture.ts'
import { sandboxOfFile } from '../prelude/compare.ts'
import { openGuardedFetch, type GuardedFetch } from './guarded-fetch.ts'
import { cert, key } from './server-certificate.ts'

const sandbox = sandboxOfFile()
const servers: Server[] = []

/** A connection that has come. */
interface Visit {
  socket: Socket
  received: string
  hasEnded: boolean
}
let visits: Visit[] = []
let guarded: GuardedFetch
let ports: Record<string, number>

beforeAll(async () => {
  const kept = { allowHalfOpen: true }
  const certified = { cert, key }
  ports = {
    echo: await listen(createServer(kept, (socket) => socket.pipe(socket))),
    sink: await listen(createServer(kept, (socket) => record(socket))),
    tlsSink: await listen(createTlsServer(certified, (socket) => record(socket))),
    /** It ends its half at once, and receives. */
    ended: await listen(createServer(kept, (socket) => record(socket.end('bye')))),
    deaf: await listen(createServer({ ...kept, pauseOnConnect: true })),
    reset: await listen(createServer((socket) => socket.resetAndDestroy())),
    resetLater: await listen(createServer((socket) => socket.once('data', () => socket.resetAndDestroy()))),
    garbage: await listen(createServer((socket) => socket.write('HTTP/1.1 400 Bad\r\n\r\n'))),
    dripping: await listen(createServer((socket) => drip(socket, 300))),
    garbled: await listen(createServer(kept, garble)),
    renegotiating: await listen(createTlsServer({ ...certified, maxVersion: 'TLSv1.2' }, renegotiate)),
  }
  const all = Object.values(ports).map((port) => `127.0.0.1:${port}`)
  const permitted = [...all, '127.0.0.1:443'].join(',')
  guarded = await openGuardedFetch({ SANDBOX_NET: permitted, OUTBOUND_CONNECT: permitted })
})
afterAll(async () => {
  await guarded[Symbol.asyncDispose]()
  for (const { socket } of visits) socket.destroy()
  for (const server of servers) server.close()
})

async function listen(server: Server): Promise<number> {
  server.on('connection', ignoreErrors).on('secureConnection', ignoreErrors)
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

function ignoreErrors(socket: Socket): void {
  socket.on('error', () => {})
}

function record(socket: Socket): void {
  const visit: Visit = { socket, received: '', hasEnded: false }
  visits.push(visit)
  socket.on('data', (chunk) => (visit.received += chunk.toString('latin1'))).on('end', () => (visit.hasEnded = true))
}

function drip(socket: Socket, times: number): void {
  if (socket.destroyed) return
  if (times === 0) socket.end()
  else socket.write('a', () => setImmediate(drip, socket, times - 1))
}

/** Asks the client for one handshake after the other. */
function renegotiate(socket: TLSSocket): void {
  let times = 0
  const again = () => {
    if (times === 5) return void socket.end('renegotiated')
    times += 1
    socket.renegotiate({}, (error) => error ?? again())
  }
  again()
}

/** Leads to a server with TLS, and adds bytes that are no TLS to the packet with the end of its handshake. */
function garble(socket: Socket): void {
  const other = connect(ports['tlsSink']!, '127.0.0.1').on('error', () => {})
  socket.pipe(other)
  other.once('data', (chunk) => socket.end(Buffer.concat([chunk, Buffer.alloc(100, 'x')])))
  socket.on('close', () => other.destroy())
}

/** The outcome of a run with this body. */
function run(body: string) {
  const code = `
    const net = require('net'), tls = require('tls')
    const { once } = require('events')
    const ports = ${JSON.stringify(ports)}
    const ca = ${JSON.stringify(cert)}
    const host = '127.0.0.1'
    const failed = (socket) => new Promise((resolve) => socket.on('error', (error) => resolve([error.code, error.message])))
    const value = await (async () => { ${body} })()
    return { body: JSON.stringify({ value }) }`
  const limits = { fetches: 200, cpuMilliseconds: 10_000, fetchesAtOnce: 4 }
  return sandbox().run(callRun(handlerThat(code), {}, { fetch: guarded.fetch, limits }))
}

/** The ends of connections in this process. */
function openSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length
}

/** The metrics of connections. */
async function figures() {
  const text = await guarded.metrics()
  const valueOf = (name: string) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(name))
        ?.split(' ')[1] ?? 0,
    )
  const bytes = (direction: string) => valueOf(`isobot_outbound_connection_bytes_total{direction="${direction}"}`)
  return { open: valueOf('isobot_outbound_connections_open '), sent: bytes('sent'), received: bytes('received') }
}

async function told(body: string): Promise<unknown> {
  const { result } = done(await run(body))
  return (JSON.parse((result as { body: string }).body) as { value?: unknown }).value
}

const big = 2_000_000

test.each([
  ['before the run ends', `socket.end('metric')`, 'metric'],
  ['before it is destroyed', `socket.write('quit'); socket.destroy()`, 'quit'],
  [
    'before it is finished',
    `socket.end(Buffer.alloc(${big}, 'x')); await once(socket, 'finish'); socket.destroy()`,
    big,
  ],
  [
    'before its write is complete',
    `await new Promise((resolve) => socket.write(Buffer.alloc(${big}, 'x'), resolve)); socket.destroy()`,
    big,
  ],
])('bytes that code writes to a connection %s arrive, and its end', async (_, body, expected) => {
  visits = []
  await told(`const socket = net.connect(ports.sink, host); await once(socket, 'connect'); ${body}`)
  await expect.poll(() => visits.map(({ hasEnded }) => hasEnded)).toEqual([true])
  const { received } = visits[0]!
  expect(typeof expected === 'string' ? received : received.length).toBe(expected)
})

test('bytes that code writes to a connection with TLS at its end arrive', async () => {
  visits = []
  await told(`const socket = tls.connect({ port: ports.tlsSink, host, ca }); socket.end('metric')`)
  await expect.poll(() => visits.map(({ received }) => received)).toEqual(['metric'])
})

test('a server that has ended its half receives what code has written, and still writes', async () => {
  visits = []
  const texts = await told(`
    const texts = []
    for (const allowHalfOpen of [false, true]) {
      const socket = net.connect({ port: ports.ended, host, allowHalfOpen })
      if (!allowHalfOpen) socket.write(Buffer.alloc(${big}, 'x'))
      let text = ''
      socket.on('data', (chunk) => (text += chunk))
      await once(socket, 'end')
      if (allowHalfOpen) socket.end('after')
      await once(socket, 'close')
      texts.push(text)
    }
    return texts`)
  expect(texts).toEqual(['bye', 'bye'])
  await expect.poll(() => visits.map(({ received }) => received.length)).toEqual([big, 'after'.length])
})

test('bytes may be changed when they have been written', async () => {
  visits = []
  await told(`
    const socket = net.connect(ports.sink, host)
    const bytes = Buffer.alloc(200_000, 'a')
    await new Promise((resolve) => socket.write(bytes, resolve))
    bytes.fill('b')
    socket.end()`)
  await expect.poll(() => visits[0]?.hasEnded).toBe(true)
  expect(visits[0]!.received).toBe('a'.repeat(200_000))
})

test('a write that its connection does not survive fails', async () => {
  const codes = await told(`
    const socket = net.connect(ports.deaf, host)
    await once(socket, 'connect')
    const write = new Promise((resolve) => socket.write(Buffer.alloc(30_000_000), resolve))
    setTimeout(() => socket.destroy(), 100)
    return (await write).code`)
  expect(codes).toBe('ERR_STREAM_DESTROYED')
})

test('connections to a peer that reads nothing are closed soon after they are destroyed', async () => {
  const before = openSockets()
  await told(`
    for (let count = 0; count < 8; count++) {
      const socket = net.connect(ports.deaf, host)
      await once(socket, 'connect')
      socket.write(Buffer.alloc(8_000_000))
      await new Promise((resolve) => setTimeout(resolve, 50))
      socket.destroy()
    }`)
  // The ends of the peer stay. One of an earlier test may go.
  await expect.poll(() => openSockets() - before, { timeout: 8000 }).toBeLessThanOrEqual(8)
})

test('what is open, and the bytes that it carries, are metrics', async () => {
  await expect.poll(async () => (await figures()).open).toBe(0)
  const before = await figures()
  visits = []
  const ended = run(`
    const sink = net.connect(ports.sink, host)
    sink.write('four')
    const echo = net.connect(ports.echo, host)
    echo.write('twelve bytes')
    await once(echo, 'data')
    await new Promise((resolve) => setTimeout(resolve, 2000))`)
  await expect.poll(async () => (await figures()).received - before.received).toBe(12)
  await expect.poll(async () => (await figures()).sent - before.sent).toBe(16)
  expect((await figures()).open).toBe(2)
  await ended
  await expect.poll(async () => (await figures()).open).toBe(0)
})

test('a connection that breaks as its handshake ends is over', async () => {
  await expect.poll(async () => (await figures()).open).toBe(0)
  const codes = await told(`
    const codes = []
    for (let count = 0; count < 10; count++) {
      const socket = tls.connect({ port: ports.garbled, host, ca })
      const failure = await Promise.race([failed(socket), new Promise((resolve) => socket.on('close', () => resolve(['closed'])))])
      codes.push(failure[0])
      socket.destroy()
    }
    return [...new Set(codes)]`)
  expect(codes).toEqual([expect.stringMatching(/^(ERR_SSL_\w+|ECONNRESET)$/)])
  await expect.poll(async () => (await figures()).open).toBe(0)
})

test('a process of the sandbox that ends ends its connections', async () => {
  visits = []
  const outcome = await run(`
    const socket = net.connect(ports.sink, host)
    await once(socket, 'connect')
    socket.write('here')
    await new Promise((resolve) => setTimeout(resolve, 200))
    const all = []
    for (;;) all.push(new Array(1_000_000).fill(all))`)
  expect(outcome).toMatchObject({ status: 'failed', reason: 'memory' })
  await expect.poll(() => visits.map(({ received, hasEnded }) => [received, hasEnded])).toEqual([['here', true]])
})

test('a process of the sandbox that is killed ends its connections, of which the worker keeps nothing', async () => {
  await expect.poll(async () => (await figures()).open).toBe(0)
  const before = openSockets()
  visits = []
  const ended = run(`
    const sockets = [...Array.from({ length: 5 }, () => net.connect(ports.sink, host)), tls.connect({ port: ports.tlsSink, host, ca })]
    for (const socket of sockets) socket.write('here')
    await new Promise(() => {})`)
  await expect.poll(() => visits.map(({ received }) => received)).toEqual(Array.from({ length: 6 }, () => 'here'))
  process.kill(sandbox().pid(), 'SIGKILL')
  expect((await ended).status).not.toBe('done')
  await expect.poll(() => visits.filter(({ hasEnded }) => hasEnded).length, { timeout: 5000 }).toBe(6)
  await expect.poll(async () => (await figures()).open).toBe(0)
  // Those of the servers are in this process as well; the pool of its database may have one more or less.
  for (const { socket } of visits) socket.destroy()
  await expect.poll(() => openSockets() - before, { timeout: 5000 }).toBeLessThanOrEqual(2)
})

test('a socket that is kept for later is closed with its run, read or not', async () => {
  const code = `
    const net = require('net')
    const { once } = require('events')
    globalThis.events ??= []
    if (globalThis.kept) {
      const failure = await new Promise((resolve) => kept.write('late', resolve))
      return { body: JSON.stringify([events, kept.destroyed, failure?.code]) }
    }
    globalThis.kept = net.connect(${ports['sink']}, '127.0.0.1')
    kept.on('error', () => {}).on('close', () => events.push('close'))
    await once(kept, 'connect')
    return { body: '' }`
  const bundle = handlerThat(code)
  const results = []
  for (const _ of [1, 2]) {
    const outcome = await sandbox().run(callRun(bundle, {}, { fetch: guarded.fetch }))
    results.push((done(outcome).result as { body: string }).body)
  }
  expect(results).toEqual(['', '[["close"],true,"ERR_STREAM_DESTROYED"]'])
})

test('an error that a listener throws is that of the code, and not one of the connection', async () => {
  for (const [event, begin] of [
    ['connect', ''],
    ['data', `socket.write('x')`],
  ] as const) {
    const outcome = await run(`
      const errors = []
      const socket = net.connect(ports.echo, host).on('error', (error) => errors.push(error.message))
      const thrown = new Promise((resolve) => socket.on('${event}', () => { setTimeout(resolve, 50); throw new Error('of the code') }))
      ${begin}
      await thrown
      return [errors, socket.destroyed]`)
    const { result, logs } = done(outcome)
    expect((result as { body: string }).body).toBe('{"value":[[],false]}')
    expect(logs.map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/^Unhandled rejection: Error: of the code/),
    )
  }
})

test('a closed socket can be connected again, and an open one cannot', async () => {
  const answers = await told(`
    const socket = net.connect(ports.echo, host)
    await once(socket, 'connect')
    socket.destroy()
    await once(socket, 'close')
    socket.connect(ports.echo, host)
    socket.write('again')
    const [text] = await once(socket, 'data')
    const refused = failed(socket)
    socket.connect(ports.echo, host)
    return [String(text), (await refused)[0]]`)
  expect(answers).toEqual(['again', 'EISCONN'])
})

test('a peer that resets, sends no TLS, or a byte at a time causes the error that Node has, or none', async () => {
  const answers = await told(`
    const resetLater = net.connect(ports.resetLater, host)
    resetLater.write('x')
    const others = [net.connect(ports.reset, host), resetLater, tls.connect(ports.garbage, host)].map(failed)
    const dripping = net.connect(ports.dripping, host)
    dripping.resume()
    await once(dripping, 'end')
    const codes = await Promise.all(others)
    return [dripping.bytesRead, ...codes.map(([code]) => code)]`)
  expect(answers).toEqual([300, 'ECONNRESET', 'ECONNRESET', 'ERR_SSL_WRONG_VERSION_NUMBER'])
})

test('a server cannot ask for one handshake after the other', async () => {
  const text = await told(`
    const socket = tls.connect({ port: ports.renegotiating, host, ca })
    let text = ''
    socket.on('error', () => {}).on('data', (chunk) => (text += chunk))
    await new Promise((resolve) => socket.on('close', resolve))
    return text`)
  expect(text).toBe('')
})

test('options of strange types have the outcome of Node, and the port 0 is no other', async () => {
  const answers = await told(`
    const attempt = (options) => { try { net.connect(options).on('error', () => {}).destroy(); return 'begun' } catch (error) { return error.code } }
    const strange = [{ host: 5 }, { host: {} }, { host: Symbol('host') }, { host: null }, { host: '' }, { port: ' ' }, { port: null }, { port: '0x1' }]
    const codes = strange.map((options) => attempt({ host, port: ports.echo, ...options }))
    try { tls.connect({ port: ports.echo, host, servername: 5 }) } catch (error) { codes.push(error.code) }
    return [...codes, (await failed(net.connect(0, host)))[1]]`)
  const type = 'ERR_INVALID_ARG_TYPE'
  const port = 'ERR_SOCKET_BAD_PORT'
  const unnamed = expect.stringContaining('Code may not connect to 127.0.0.1:0')
  expect(answers).toEqual([type, type, type, 'begun', 'begun', port, port, 'begun', type, unnamed])
})
