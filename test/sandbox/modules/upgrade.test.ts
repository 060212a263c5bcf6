import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { createServer, type AddressInfo, type Server } from 'node:net'
import type { Duplex } from 'node:stream'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { callRun, done, handlerThat, sdkBot } from '../fixture.ts'
import { sandboxOfFile } from '../prelude/compare.ts'
import { openGuardedFetch, type GuardedFetch } from './guarded-fetch.ts'
import { cert, key } from './server-certificate.ts'

const sandbox = sandboxOfFile()
const servers: Server[] = []
let guarded: GuardedFetch
let ports: Record<'plain' | 'tls' | 'raw', number>
/** The heads that the raw server has received, and what it answers. */
const heads: string[] = []
let answer = ''

beforeAll(async () => {
  ports = {
    plain: await listen(createHttpServer((_request, response) => response.writeHead(401).end('no')).on('upgrade', go)),
    tls: await listen(createHttpsServer({ cert, key }).on('upgrade', go)),
    raw: await listen(
      createServer((socket) =>
        socket
          .on('error', () => {})
          .once('data', (head) => {
            heads.push(head.toString('latin1'))
            socket.end(Buffer.from(answer, 'latin1'))
          }),
      ),
    ),
  }
  const all = Object.values(ports)
    .map((port) => `127.0.0.1:${port}`)
    .join(',')
  guarded = await openGuardedFetch({ SANDBOX_NET: all, OUTBOUND_CONNECT: all })
})
afterAll(async () => {
  await guarded[Symbol.asyncDispose]()
  for (const server of servers) server.close()
})

async function listen(server: Server): Promise<number> {
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

const webSockets = new WebSocketServer({ noServer: true })

/** Serves WebSockets, another protocol, or refuses. */
function go(request: IncomingMessage, socket: Duplex, head: Buffer): void {
  socket.on('error', () => {})
  if (request.url === '/refused')
    return void socket.end('HTTP/1.1 401 Who\r\ncontent-length: 3\r\nwww-authenticate: x\r\n\r\nno.')
  if (request.url !== '/echo') {
    return webSockets.handleUpgrade(request, socket, head, (ws) => {
      ws.on('error', () => {}).on('message', (data, isBinary) => ws.send(data, { binary: isBinary }))
    })
  }
  socket.write('HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nfirst ')
  socket.pipe(socket)
}

async function told(body: string): Promise<unknown> {
  const code = `
    const net = require('net'), http = require('http')
    const { once } = require('events')
    const ports = ${JSON.stringify(ports)}
    const host = '127.0.0.1'
    const headers = { Connection: 'keep-alive, Upgrade', Upgrade: 'echo', 'X-Own': 'value' }
    const ask = (options) => new Promise((resolve) => {
      http.get({ host, headers, createConnection: net.connect, ...options })
        .on('upgrade', (res, socket, head) => resolve({ res, socket, head }))
        .on('response', (res) => resolve({ res }))
        .on('error', ({ code }) => resolve({ code }))
    })
    const value = await (async () => { ${body} })()
    return { body: JSON.stringify({ value }) }`
  const run = callRun(handlerThat(code), {}, { fetch: guarded.fetch, limits: { cpuMilliseconds: 10_000 } })
  return (JSON.parse((done(await sandbox().run(run)).result as { body: string }).body) as { value: unknown }).value
}

test('a request goes on in another protocol over a connection of the code, or has an answer as others have', async () => {
  const answers = await told(`
    const { res, socket, head } = await ask({ port: ports.plain, path: '/echo' })
    socket.write('second')
    let text = String(head)
    while (!text.endsWith('second')) text += String((await once(socket, 'data'))[0])
    socket.destroy()
    const { res: refused } = await ask({ port: ports.plain, path: '/refused' })
    let reason = ''
    for await (const part of refused) reason += part
    return [res.statusCode, res.headers.upgrade, text, refused.statusCode, refused.headers['www-authenticate'], reason]`)
  expect(answers).toEqual([101, 'echo', 'first second', 401, 'x', 'no.'])
})

test('a request for another protocol has the lines that the code gives, and no others', async () => {
  heads.length = 0
  answer = 'HTTP/1.1 103 Early\r\na: b\r\n\r\nHTTP/1.1 204 None\r\ncontent-length: 0\r\n\r\n'
  const answers = await told(`
    const seen = [(await ask({ port: ports.raw, path: '/a?b=\\xe4', auth: 'a:b' })).res.statusCode]
    for (const options of [{ path: '/\\u010d\\u010ax: y' }, { path: '/ HTTP/1.1\\r\\nx: y' }, { headers: { ...headers, x: 'a\\r\\nb: c' } }, { headers: { ...headers, 'x\\r\\ny': 'z' } }])
      try { seen.push((await ask({ port: ports.raw, ...options })).code) } catch ({ code }) { seen.push(code) }
    return seen`)
  const path = 'ERR_UNESCAPED_CHARACTERS'
  expect(answers).toEqual([204, path, path, 'ERR_INVALID_CHAR', 'ERR_INVALID_HTTP_TOKEN'])
  const lines = ['connection: keep-alive, Upgrade', 'upgrade: echo', 'x-own: value', `host: 127.0.0.1:${ports.raw}`]
  expect(heads).toEqual([['GET /a?b=\xe4 HTTP/1.1', ...lines, 'authorization: Basic YTpi', '', ''].join('\r\n')])
})

test.each([
  ['no HTTP', '220 mail.example.com\r\n\r\n', 'HPE_INVALID_CONSTANT'],
  ['a header that is none', 'HTTP/1.1 101 OK\r\nno header\r\n\r\n', 'HPE_INVALID_HEADER_TOKEN'],
  ['headers without end', `HTTP/1.1 101 OK\r\na: ${'b'.repeat(100_000)}`, 'HPE_HEADER_OVERFLOW'],
  ['early heads without end', 'HTTP/1.1 100 Go\r\n\r\n'.repeat(30_000), 'ECONNRESET'],
  ['nothing', '', 'ECONNRESET'],
])('a server that answers a request for another protocol with %s causes an error of Node', async (_, text, code) => {
  answer = text
  expect(await told(`return (await ask({ port: ports.raw })).code`)).toBe(code)
})

test('the published client of WebSockets has its connection, with TLS and without', async () => {
  const { outputFiles } = await build({
    stdin: {
      contents: `
        const WebSocket = require('ws')
        const talk = (url, options) => new Promise((resolve) => {
          const seen = []
          const socket = new WebSocket(url, options)
          socket.on('open', () => socket.send('x'.repeat(100000)))
          socket.on('message', (data) => { seen.push(data.length); socket.close(1000) })
          socket.on('error', (error) => seen.push(error.message)).on('close', (code) => resolve([...seen, code]))
        })
        exports.handler = async () => {
          const plain = await talk('ws://127.0.0.1:${ports.plain}/')
          const tls = await talk('wss://127.0.0.1:${ports.tls}/', { ca: ${JSON.stringify(cert)} })
          const unknown = await talk('wss://127.0.0.1:${ports.tls}/')
          return { body: JSON.stringify([plain, tls, unknown, await talk('ws://127.0.0.1:${ports.plain}/refused')]) }
        }`,
      resolveDir: import.meta.dirname,
      loader: 'js',
    },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    external: ['bufferutil', 'utf-8-validate'],
    tsconfigRaw: {},
  })
  const run = callRun(sdkBot(outputFiles[0]!.text), {}, { fetch: guarded.fetch, limits: { cpuMilliseconds: 10_000 } })
  const { body } = done(await sandbox().run(run)).result as { body: string }
  expect(JSON.parse(body)).toEqual([
    [100_000, 1000],
    [100_000, 1000],
    [expect.stringContaining('DEPTH_ZERO_SELF_SIGNED_CERT'), 1006],
    ['Unexpected server response: 401', 1006],
  ])
})
