import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, TLSSocket } from 'node:tls'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openLink } from '../../chaos/network.ts'
import { callRun, done, handlerThat, sdkBot } from '../fixture.ts'
import { sandboxOfFile } from '../prelude/compare.ts'
import { openGuardedFetch, type GuardedFetch } from './guarded-fetch.ts'
import { cert, key } from './server-certificate.ts'

const sandbox = sandboxOfFile()
const servers: Server[] = []
/** All connections that have come, and the text that each has sent. */
const came: { socket: Socket; text: string; isClosed: boolean }[] = []
let guarded: GuardedFetch
let ports: Record<'echo' | 'tls' | 'tls12' | 'starttls' | 'hasty' | 'silent' | 'flood' | 'closed', number>

beforeAll(async () => {
  const closed = await listen(createServer())
  servers.pop()!.close()
  ports = {
    closed,
    /** Sends back what it receives. */
    echo: await listen(createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket))),
    tls: await listen(createTlsServer({ cert, key }, (socket) => socket.pipe(socket))),
    tls12: await listen(
      createTlsServer({ cert, key, maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' }, (socket) =>
        socket.pipe(socket),
      ),
    ),
    /** As a mail server does: it continues with TLS after a line. */
    starttls: await listen(createServer((socket) => void continueWithTls(socket, 'ready\n'))),
    /** The same, with forged bytes after the line. */
    hasty: await listen(createServer((socket) => void continueWithTls(socket, 'ready\nforged\n'))),
    silent: await listen(createServer()),
    flood: await listen(createServer((socket) => flood(socket))),
  }
  const all = Object.values(ports).map((port) => `127.0.0.1:${port}`)
  guarded = await openGuardedFetch({
    SANDBOX_NET: [...all, '127.0.0.2:1', '127.0.0.3:1', 'localhost'].join(','),
    OUTBOUND_CONNECT: [...all, '127.0.0.2:1', `localhost:${ports.echo}`].join(','),
  })
})
afterAll(async () => {
  await guarded[Symbol.asyncDispose]()
  for (const { socket } of came) socket.destroy()
  for (const server of servers) server.close()
})

async function listen(server: Server): Promise<number> {
  server.on('connection', (socket: Socket) => {
    const one = { socket, text: '', isClosed: false }
    came.push(one)
    socket.on('error', () => {}).on('close', () => (one.isClosed = true))
    socket.on('data', (chunk) => (one.text += chunk.toString('latin1')))
  })
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function continueWithTls(socket: Socket, line: string): Promise<void> {
  await once(socket, 'data')
  socket.removeAllListeners('data')
  socket.write(line)
  const secured = new TLSSocket(socket, { isServer: true, cert, key })
  secured.on('error', () => {}).on('data', (chunk: Buffer) => secured.write(`secret ${chunk.toString()}`))
}

function flood(socket: Socket): void {
  const more = () => {
    while (!socket.destroyed && socket.write(Buffer.alloc(65_536)));
  }
  socket.on('drain', more)
  more()
}

/** Code for `told`. */
const words = () => `
  const net = require('net'), tls = require('tls')
  const { once } = require('events')
  const ports = ${JSON.stringify(ports)}
  const ca = ${JSON.stringify(cert)}
  const host = '127.0.0.1'
  const failed = (socket) => new Promise((resolve) => socket.on('error', (error) => resolve([error.code, error.message])))
  /** One that has come to be open, as soon as there is room for it. */
  const opened = async (port) => {
    for (;;) {
      const socket = net.connect(port, host)
      const failure = await Promise.race([once(socket, 'connect').then(() => undefined, () => failed(socket)), failed(socket)])
      if (failure === undefined) return socket
      if (failure[0] !== 'EMFILE') throw new Error(failure.join())
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  const read = async (socket) => { const parts = []; for await (const part of socket) parts.push(part); return String(Buffer.concat(parts)) }`

/** The result of a handler with this body. */
async function told(body: string, limits: object = {}, { fetch } = guarded): Promise<unknown> {
  const code = `${words()}
    const value = await (async () => { ${body} })()
    return { body: JSON.stringify({ value }) }`
  const run = callRun(
    handlerThat(code),
    {},
    { fetch, limits: { fetches: 40, cpuMilliseconds: 10_000, fetchesAtOnce: 4, ...limits } },
  )
  const outcome = await sandbox().run(run)
  return (JSON.parse((done(outcome).result as { body: string }).body) as { value?: unknown }).value
}

describe('a connection of net', () => {
  test('carries megabytes both ways, and emits the events of Node', async () => {
    const answer = await told(`
      const socket = net.connect({ host, port: ports.echo, allowHalfOpen: true })
      const events = []
      for (const name of ['connect', 'ready', 'end', 'finish', 'close']) socket.on(name, (...values) => events.push([name, ...values]))
      const states = [socket.connecting, socket.readyState]
      await once(socket, 'connect')
      states.push(socket.connecting, socket.readyState)
      const sent = Buffer.alloc(3 * 1024 * 1024, 'sailing ')
      socket.end(sent)
      const parts = []
      for await (const part of socket) parts.push(part)
      if (!socket.closed) await once(socket, 'close')
      return [states, events.map(([name]) => name), Buffer.concat(parts).equals(sent), socket.bytesRead, socket.bytesWritten]
    `)
    const size = 3 * 1024 * 1024
    const states = [true, 'opening', false, 'open']
    expect(answer).toEqual([states, ['connect', 'ready', 'finish', 'end', 'close'], true, size, size])
  })

  test('sends what is written before it is open, and takes the arguments of Node', async () => {
    const answers = await told(`
      const one = net.createConnection(ports.echo, host)
      one.end('one')
      const other = new net.Socket()
      other.write('written ')
      other.connect(ports.echo, host, () => other.end('other'))
      return [await read(one), await read(other), net.isIP(host), other instanceof net.Socket]
    `)
    expect(answers).toEqual(['one', 'written other', 4, true])
  })

  test('fails with the code that Node has', async () => {
    const [code, message] = (await told(`return failed(net.connect(ports.closed, host))`)) as string[]
    expect(code).toBe('ECONNREFUSED')
    expect(message).toContain('The connection to 127.0.0.1 failed (ECONNREFUSED)')
  })

  test('reaches only hosts with ports that the code and the operator both name', async () => {
    const refusals = await told(`return Promise.all([
      failed(net.connect(9, 'other.example')),
      failed(net.connect(ports.echo, 'localhost')),
      failed(net.connect(1, '127.0.0.3')),
      failed(net.connect(1, '127.0.0.2')),
      failed(net.connect(ports.echo, 'user@127.0.0.1')),
    ])`)
    expect(refusals).toEqual([
      [
        'EACCES',
        expect.stringContaining('Code may not connect to other.example:9: add it with its port to permissions.net'),
      ],
      ['EACCES', expect.stringContaining(`Code may not connect to localhost:${ports.echo}`)],
      ['EACCES', expect.stringContaining('not permitted here: the operator adds it to OUTBOUND_CONNECT')],
      ['EACCES', expect.stringContaining('127.0.0.2 is not at a public address')],
      ['EINVAL', 'The address of a connection has a host and a port'],
    ])
  })

  test('never reaches the database of the platform', async () => {
    const { hostname, port } = new URL(guarded.databaseUrl)
    const own = await openGuardedFetch({
      DATABASE_URL: guarded.databaseUrl,
      OUTBOUND_ALLOW_PRIVATE: `${hostname}:${port}`,
      SANDBOX_NET: `${hostname}:${port}`,
      OUTBOUND_CONNECT: `${hostname}:${port}`,
    })
    try {
      const code = `${words()}
        return { body: JSON.stringify(await failed(net.connect(${port}, '${hostname}'))) }`
      const outcome = await sandbox().run(callRun(handlerThat(code), {}, { fetch: own.fetch }))
      expect((done(outcome).result as { body: string }).body).toContain('EACCES')
    } finally {
      await own[Symbol.asyncDispose]()
    }
  })

  test('ends with its run, here and at the server, and the next run opens another one', async () => {
    const begin = came.length
    const code = `${words()}
      globalThis.sockets ??= []
      const before = sockets.map((socket) => [socket.destroyed, socket.ended])
      const socket = net.connect(ports.silent, host)
      socket.on('end', () => (socket.ended = true)).resume()
      await once(socket, 'connect')
      sockets.push(socket)
      return { body: JSON.stringify(before) }`
    const bundle = handlerThat(code)
    const run = async () => {
      const outcome = await sandbox().run(callRun(bundle, {}, { fetch: guarded.fetch }))
      return JSON.parse((done(outcome).result as { body: string }).body) as unknown
    }
    expect(await run()).toEqual([])
    await expect.poll(() => came.slice(begin).map(({ isClosed }) => isClosed)).toEqual([true])
    expect(await run()).toEqual([[true, true]])
    await expect.poll(() => came.slice(begin).map(({ isClosed }) => isClosed)).toEqual([true, true])
  })

  test('that is destroyed is closed at the server too, also while it opens', async () => {
    const begin = came.length
    const closings = await told(`
      const socket = net.connect(ports.silent, host)
      await once(socket, 'connect')
      socket.destroy()
      const [hadError] = await once(socket, 'close')
      const opening = net.connect(ports.silent, host)
      opening.destroy(new Error('no longer wanted'))
      return [hadError, (await failed(opening))[1]]
    `)
    expect(closings).toEqual([false, 'no longer wanted'])
    await expect.poll(() => came.slice(begin).every(({ isClosed }) => isClosed)).toBe(true)
  })

  test('beyond the number of open ones fails at once with the limit, and leaves the others', async () => {
    const answers = await told(
      `
      const open = [1, 2, 3].map(() => net.connect(ports.echo, host))
      const refused = failed(net.connect(ports.echo, host))
      await Promise.all(open.map((socket) => once(socket, 'connect')))
      const late = failed(tls.connect({ port: ports.tls, host, ca }))
      open[0].destroy()
      const next = await opened(ports.echo)
      for (const socket of [open[1], open[2], next]) socket.end('still here')
      return [await refused, (await late)[0], await Promise.all([open[1], open[2], next].map(read))]
    `,
      { connectionsAtOnce: 3, fetchesAtOnce: 1 },
    )
    const message =
      'An event may have at most 3 open connections (EMFILE): close others before, give a pool a smaller maximum, or raise ' +
      'limits.connectionsAtOnce of the bot'
    expect(answers).toEqual([['EMFILE', message], 'EMFILE', ['still here', 'still here', 'still here']])
  })

  test('is no request in flight when it is open', async () => {
    const address = `127.0.0.1:${ports.silent}`
    await using own = await openGuardedFetch({ SANDBOX_NET: `127.0.0.1,${address}`, OUTBOUND_CONNECT: address })
    const base = await own.serve((_request, response) => void response.end('x'.repeat(200_000)))
    const answers = await told(
      `
      const open = [1, 2, 3].map(() => net.connect(ports.silent, host))
      await Promise.all(open.map((socket) => once(socket, 'connect')))
      const { body } = await fetch(${JSON.stringify(base)})
      const sizes = []
      for await (const part of body) sizes.push(part.length)
      return [sizes.length > 1, sizes.reduce((sum, size) => sum + size, 0)]
    `,
      { connectionsAtOnce: 3, fetchesAtOnce: 1 },
      own,
    )
    expect(answers).toEqual([true, 200_000])
  })

  test.each([
    ['destroyed after it has ended its half', 'silent', `socket.end(); await once(socket, 'finish'); socket.destroy()`],
    ['ended on both sides', 'echo', `socket.end('x'); socket.resume(); await once(socket, 'end')`],
  ] as const)('makes room for another one when it is %s', async (_how, port, end) => {
    const body = `
      for (let count = 0; count < 5; count++) {
        const socket = await opened(ports.${port})
        ${end}
      }
      const last = await opened(ports.echo)
      last.end('last')
      return read(last)`
    expect(await told(body, { connectionsAtOnce: 1 })).toBe('last')
  })

  test('that never opens makes room for another one', async () => {
    const body = `
      for (let count = 0; count < 5; count++) {
        net.connect(ports.echo, host).destroy()
        await failed(net.connect(ports.closed, host))
      }
      const last = await opened(ports.echo)
      last.end('last')
      return read(last)`
    expect(await told(body, { connectionsAtOnce: 1 })).toBe('last')
  })

  test('whose server sends more than a response may have is ended', async () => {
    const answer = await told(`const socket = net.connect(ports.flood, host).resume(); return failed(socket)`)
    expect(answer).toEqual([
      'ECONNRESET',
      expect.stringContaining('More than 10485760 bytes were received from 127.0.0.1 in one connection'),
    ])
  })

  test('stops after a time without activity if it is told to, and has no other kinds of sockets', async () => {
    const answers = await told(`
      const socket = net.connect({ host, port: ports.silent, timeout: 20 })
      await once(socket, 'timeout')
      const messages = [() => net.connect('/tmp/socket'), () => net.createServer(), () => net.connect(70000), () => tls.connect({ port: 1, key: 'x' }), () => net.connect({ port: 1, lookup() {} })]
      return messages.map((attempt) => { try { attempt() } catch (error) { return error.message } })
    `)
    expect(answers).toEqual([
      'Isolates have no sockets of the file system: give a host and a port',
      expect.stringContaining('net.createServer is not available'),
      'Port should be >= 0 and < 65536. Received 70000.',
      'The option key has no effect in isolates: connections from isolates have no certificate of their own',
      'The option lookup has no effect in isolates: the platform resolves hosts, and checks their addresses',
    ])
  })
})

test.each([
  ['', 2],
  [' of its usual size, with a request', 10],
])('the published client of PostgreSQL has its pool%s, in each run anew', { timeout: 150_000 }, async (_size, max) => {
  const server = new URL(guarded.databaseUrl)
  // The platform's own server is never reached: this one is another, which leads to it.
  await using link = await openLink(() => Number(server.port || 5432))
  const address = `127.0.0.1:${link.port}`
  const own = await openGuardedFetch({ SANDBOX_NET: `127.0.0.1,${address}`, OUTBOUND_CONNECT: address })
  try {
    const base = await own.serve((_request, response) => void response.end('beside'))
    const url = Object.assign(new URL(guarded.databaseUrl), { host: address }).href
    const code = await bundled(`
      const { Pool } = require('pg')
      const pool = new Pool({ connectionString: ${JSON.stringify(url)}, max: ${max} })
      pool.on('error', () => {})
      exports.handler = async () => {
        // Each holds its connection until all are open.
        const waiting = Array.from({ length: ${max} - 1 }, () => pool.query('select pg_sleep(0.3), 1 + 1 as two'))
        const [other, ...ones] = await Promise.all([pool.query("select repeat('x', 300000) as text"), ...waiting])
        const text = await (await fetch(${JSON.stringify(base)})).text()
        return { body: JSON.stringify([ones.map(({ rows }) => rows[0].two), other.rows[0].text.length, pool.totalCount, text]) }
      }`)
    // Ten logins take a second of processor time, for which a sandbox process waits long beside a busy machine's other work.
    const times = { cpuMilliseconds: 10_000, wallMilliseconds: 60_000 }
    const limits = { ...times, fetches: 50, fetchesAtOnce: 6, connectionsAtOnce: 20 }
    for (const _ of [1, 2]) {
      const outcome = await sandbox().run(callRun(sdkBot(code), {}, { fetch: own.fetch, limits }))
      const body = JSON.stringify([Array.from({ length: max - 1 }, () => 2), 300_000, max, 'beside'])
      expect(done(outcome).result).toMatchObject({ body })
    }
  } finally {
    await own[Symbol.asyncDispose]()
  }
})

/** As the public command line bundles. */
async function bundled(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: import.meta.dirname, loader: 'js' },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    target: 'es2020',
    minify: true,
    keepNames: true,
    external: ['pg-native', 'pg-cloudflare'],
    tsconfigRaw: {},
  })
  return outputFiles[0]!.text
}

describe('a connection of tls', () => {
  test('is encrypted by the platform, and open when the certificate is accepted', async () => {
    const begin = came.length
    const answer = await told(`
      const socket = tls.connect({ host, port: ports.tls, ca })
      const events = []
      for (const name of ['connect', 'secureConnect', 'close']) socket.on(name, () => events.push(name))
      await once(socket, 'secureConnect')
      socket.end('a secret')
      const text = await read(socket)
      return [text, socket.authorized, socket.encrypted, events]
    `)
    expect(answer).toEqual(['a secret', true, true, ['connect', 'secureConnect', 'close']])
    expect(came.slice(begin).map(({ text }) => text.includes('a secret'))).toEqual([false])
  })

  test.each([
    ['of an unknown authority', `{}`, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['of another name', `{ ca, servername: 'other.example' }`, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ])('fails for a certificate %s, before anything is sent', async (_, options, code) => {
    const answer = await told(`
      const socket = tls.connect({ host, port: ports.tls, ...${options} })
      socket.write('a secret')
      return failed(socket)
    `)
    expect(answer).toEqual([code, expect.stringContaining(`is not accepted (${code})`)])
  })

  test('accepts any certificate where the code says so, and then is not authorized', async () => {
    const answer = await told(`
      const socket = tls.connect(ports.tls, host, { rejectUnauthorized: false }, () => socket.end('hello'))
      return [await read(socket), socket.authorized]
    `)
    expect(answer).toEqual(['hello', false])
  })

  test('has TLS also when it is connected again, or made without connect', async () => {
    const begin = came.length
    const answers = await told(`
      const socket = tls.connect({ host, port: ports.tls, ca })
      await once(socket, 'secureConnect')
      socket.destroy()
      await once(socket, 'close')
      const texts = []
      for (const each of [socket, new tls.TLSSocket(undefined, {})]) {
        each.connect({ port: ports.tls, host, ca })
        each.write('a secret')
        const [text] = await once(each, 'data')
        texts.push(String(text), each.authorized)
        each.end()
      }
      return texts
    `)
    expect(answers).toEqual(['a secret', true, 'a secret', true])
    expect(came.slice(begin).map(({ text }) => text.includes('a secret'))).toEqual([false, false, false])
  })

  test('has the versions and ciphers that the code asks for, or is not open', async () => {
    const answers = await told(`
      const outcome = (options) => new Promise((resolve) => {
        const socket = tls.connect({ host, port: ports.tls12, ca, ...options })
        socket.on('error', (error) => resolve(error.code)).on('secureConnect', () => resolve('open'))
      })
      const all = [{}, { minVersion: 'TLSv1.3' }, { maxVersion: 'TLSv1.2' }, { minVersion: 'none' }, { ciphers: 'none' }, { ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' }, { ciphers: 'ECDHE-ECDSA-CHACHA20-POLY1305' }]
      const codes = []
      for (const options of all) codes.push(await outcome(options))
      return codes
    `)
    const unknown = ['ERR_TLS_INVALID_PROTOCOL_VERSION', 'ERR_SSL_NO_CIPHER_MATCH']
    const [version, handshake] = [
      'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
      expect.stringMatching(/^ERR_SSL_.+HANDSHAKE_FAILURE$/),
    ]
    expect(answers).toEqual(['open', version, 'open', ...unknown, 'open', handshake])
  })

  test('trusts no authority where the code gives none, as in Node, and those in bytes', async () => {
    const answers = await told(`
      const bytes = new TextEncoder().encode('\\n' + ca)
      const codes = []
      for (const given of [[], [bytes], bytes.buffer, [Buffer.from(ca), ca], ''])
        codes.push(await new Promise((resolve) => {
          const socket = tls.connect({ host, port: ports.tls, ca: given })
          socket.on('error', (error) => resolve(error.code)).on('secureConnect', () => resolve('open'))
        }))
      for (const given of [5, {}, [null]]) try { tls.connect({ host, port: ports.tls, ca: given }) } catch (error) { codes.push(error.code) }
      return codes
    `)
    const self = 'DEPTH_ZERO_SELF_SIGNED_CERT'
    const type = 'ERR_INVALID_ARG_TYPE'
    expect(answers).toEqual([self, 'open', 'open', 'open', self, type, type, type])
  })

  test('is not made over a stream that is no socket: a library may look at such a socket, and a write fails', async () => {
    const answers = await told(`
      const { PassThrough } = require('stream')
      const socket = new tls.TLSSocket(new PassThrough())
      socket.write('hello')
      const [{ code, message }] = await once(socket, 'error')
      return [typeof socket._handle._parentWrap.constructor, code, message]
    `)
    expect(answers).toEqual(['function', 'ERR_METHOD_NOT_IMPLEMENTED', 'The platform secures only connections of net'])
  })

  test('is refused where code relies on an option that has no effect, and so are requests', async () => {
    const answers = await told(`
      const https = require('https')
      const names = (options) => ['tls', 'https', 'agent'].map((kind) => {
        try {
          const made = kind === 'tls' ? tls.connect({ host, port: ports.tls, ca, ...options })
            : https.get({ host, port: ports.tls, ...(kind === 'agent' ? { agent: new https.Agent(options) } : options) })
          made.on('error', () => {}).destroy()
          return kind
        } catch (error) { return error.code + ' ' + error.message.split(':')[0] }
      })
      const own = [{}, { requestOCSP: false, cert: undefined, crl: null }, { minVersion: 'TLSv1.2', ecdhCurve: 'auto' }, { ciphers: 'DEFAULT:!aNULL:!MD5' }, { checkServerIdentity: tls.checkServerIdentity }]
      const refused = ['checkServerIdentity', 'pskCallback', 'cert', 'key', 'pfx', 'crl', 'secureContext', 'secureOptions', 'requestOCSP', 'ecdhCurve']
      const values = [...own.map(names), ...refused.map((name) => names({ [name]: () => undefined }))]
      const both = [names({ ca }), names({ minVersion: 'TLSv1.3' })]
      https.globalAgent.options.ca = ca
      both.push(names({}))
      try { tls.checkServerIdentity(host, {}) } catch (error) { both.push(error.code) }
      return { values, both, refused }
    `)
    const { values, both, refused } = answers as { values: string[][]; both: unknown[]; refused: string[] }
    const code = 'ERR_METHOD_NOT_IMPLEMENTED'
    const message = (name: string) => `${code} The option ${name} has no effect in isolates`
    const made = ['tls', 'https', 'agent']
    expect(values).toEqual([made, made, made, made, made, ...refused.map((name) => made.map(() => message(name)))])
    const [ca, version] = ['ca', 'minVersion'].map(message)
    expect(both).toEqual([['tls', ca, ca], ['tls', version, version], ['tls', ca, 'agent'], code])
  })

  test('continues one of net, as protocols do that begin without TLS', async () => {
    const answer = await told(
      `
      const plain = net.connect(ports.starttls, host)
      plain.write('STARTTLS')
      const [line] = await once(plain, 'data')
      plain.removeAllListeners('data')
      const socket = tls.connect({ socket: plain, ca, servername: 'mail.example.com' })
      await once(socket, 'secureConnect')
      socket.write('word')
      const [reply] = await once(socket, 'data')
      socket.destroy()
      if (!plain.destroyed) await once(plain, 'close')
      return [String(line), String(reply), socket.authorized, plain.destroyed]
    `,
      { fetchesAtOnce: 1 },
    )
    expect(answer).toEqual(['ready\n', 'secret word', true, true])
  })

  test('continues one that is not open yet', async () => {
    const answer = await told(`
      const plain = new net.Socket()
      const socket = tls.connect({ socket: plain, ca, host })
      plain.connect(ports.tls, host)
      await once(socket, 'secureConnect')
      socket.end('late')
      return read(socket)
    `)
    expect(answer).toBe('late')
  })

  test('gives code no byte that came before TLS and was not read', async () => {
    const answer = await told(`
      const plain = net.connect(ports.hasty, host)
      plain.write('STARTTLS')
      plain.pause()
      await once(plain, 'readable')
      const line = String(plain.read(6))
      const socket = tls.connect({ socket: plain, ca, host })
      const texts = []
      socket.on('data', (chunk) => texts.push(String(chunk)))
      const outcome = await Promise.race([once(socket, 'secureConnect').then(() => 'secured'), failed(socket).then(() => 'failed')])
      if (outcome === 'secured') { socket.write('word'); await once(socket, 'data') }
      return [line, texts.join('')]
    `)
    expect(answer).toEqual(['ready\n', expect.stringMatching(/^(secret word)?$/)])
  })

  test('of a connection that has gone fails', async () => {
    const answer = await told(`
      const plain = net.connect(ports.echo, host)
      await once(plain, 'connect')
      plain.destroy()
      return failed(tls.connect({ socket: plain, ca, host }))
    `)
    expect(answer).toEqual(['ECONNRESET', 'The connection to be secured is closed'])
  })
})
