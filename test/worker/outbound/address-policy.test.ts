import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openMetrics } from '#shared/telemetry/metrics.ts'
import { isPublic, parseAddress } from '../../../worker/outbound/addresses.ts'
import { openAddressPolicy } from '../../../worker/outbound/address-policy.ts'
import { configWith, log, namesAt, openGuard, startTarget, type Target } from './fixture.ts'

let open: Target
let closed: Target
beforeAll(async () => {
  open = await startTarget((_request, response) => response.end('open'))
  closed = await startTarget((_request, response) => response.end('closed'))
})
afterAll(async () => {
  await open[Symbol.asyncDispose]()
  await closed[Symbol.asyncDispose]()
})

const notPublic = { reason: 'forbidden', message: expect.stringContaining('is not at a public address') }

const loopbackSpellings = [
  '127.0.0.1',
  '127.1',
  '127.0.0.1.',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '017700000001',
  '①②⑦.⓪.⓪.①',
  '１２７。０。０。１',
  '%31%32%37.0.0.1',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::7f00:1]',
]

const privateAddresses = [
  '127.255.255.254',
  '0.0.0.0',
  '0',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '100.64.0.1',
  '169.254.169.254',
  '[::ffff:169.254.169.254]',
  '[64:ff9b::a9fe:a9fe]',
  '192.0.0.192',
  '192.0.2.1',
  '192.88.99.1',
  '198.18.0.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '[::]',
  '[::1]',
  '[::127.0.0.1]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b:1::7f00:1]',
  '[100::1]',
  '[2001::1]',
  '[2001:db8::1]',
  '[2002:7f00:1::]',
  '[2002:808:808::1]',
  '[4000::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[fe80::1]',
  '[fec0::1]',
  '[ff02::1]',
]

describe('an address that is not public is refused', () => {
  test.each([...loopbackSpellings, ...privateAddresses])('as %s', async (host) => {
    await using guard = openGuard([])
    for (const port of [closed.port, 80, 443]) {
      await expect(guard.ask(`http://${host}:${port}/`)).rejects.toMatchObject(notPublic)
      await expect(guard.ask(`https://${host}:${port}/`, { allow: [`*:${port}`] })).rejects.toMatchObject({
        reason: 'forbidden',
      })
    }
    await expect(guard.ask(`http://${host}:${closed.port}/`, { allow: [host] })).rejects.toMatchObject({
      reason: 'forbidden',
    })
    expect(closed.connections()).toBe(0)
  })

  test.each([
    ['a private one', ['10.0.0.1']],
    ['this machine', ['127.0.0.1']],
    ['this machine in an IPv6 dress', ['::ffff:127.0.0.1']],
    ['this machine through NAT64', ['64:ff9b::7f00:1']],
    ['the metadata of a cloud', ['169.254.169.254']],
    ['a public and a private one', ['1.1.1.1', '127.0.0.1']],
    ['a public and a private one of the other family', ['1.1.1.1', 'fd00::1']],
  ])('behind a name that has %s', async (_what, addresses) => {
    await using guard = openGuard([], { resolve: namesAt({ 'innocent.example': addresses }) })
    const error: unknown = await guard.ask(`http://innocent.example:${closed.port}/`).catch((reason: unknown) => reason)
    expect(error).toMatchObject(notPublic)
    for (const address of addresses) expect(String(error)).not.toContain(address)
    await expect(
      guard.ask(`http://innocent.example:${closed.port}/`, { allow: [`innocent.example:${closed.port}`] }),
    ).rejects.toMatchObject(notPublic)
    expect(closed.connections()).toBe(0)
  })

  test.each(['localhost', 'LOCALHOST', 'localhost.', 'any.localhost'])('behind the name %s', async (host) => {
    await using guard = openGuard([])
    await expect(guard.ask(`http://${host}:${closed.port}/`)).rejects.toMatchObject({
      reason: expect.stringMatching(/^(forbidden|unresolvable)$/),
    })
    expect(closed.connections()).toBe(0)
  })
})

test.each(['1.1.1.1', '8.8.8.8', '172.32.0.1', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::808:808'])(
  '%s is public',
  (address) => {
    expect(isPublic(parseAddress(address))).toBe(true)
  },
)

test('a connection goes to the addresses that were judged, and a new one is judged anew', async () => {
  const answers = ['127.0.0.1', '127.0.0.2']
  const asked: string[] = []
  await using guard = openGuard([`127.0.0.1:${open.port}`], {
    resolve: async (host) => {
      asked.push(host)
      return [{ address: answers[asked.length - 1] ?? '', family: 4 }]
    },
  })
  const url = `http://rebinding.example:${open.port}/`
  expect(await guard.ask(url)).toMatchObject({ status: 200, text: 'open' })
  expect(asked).toEqual(['rebinding.example'])
  await expect(guard.ask(url, { tenant: 'bot_2' })).rejects.toMatchObject(notPublic)
  expect(asked).toHaveLength(2)
})

test('a connection of code goes to the addresses that were checked, also when its name resolves to others before or later', async () => {
  const answers = [['127.0.0.1'], ['127.0.0.2'], ['10.0.0.1', '169.254.169.254'], ['::ffff:127.0.0.2']]
  const asked: string[] = []
  const name = `rebinding.example:${open.port}`
  await using guard = openGuard([`127.0.0.1:${open.port}`], {
    environment: { OUTBOUND_CONNECT: name },
    resolve: async (host) => {
      asked.push(host)
      return answers[asked.length - 1]!.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    },
  })
  const connect = (protocol: 'tcp' | 'tls') =>
    guard.outbound.connect({
      url: `${protocol}://${name}`,
      tls: protocol === 'tls' ? { rejectUnauthorized: false } : undefined,
      content: Readable.from(
        ['GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'].map((text) => Buffer.from(text)),
      ),
      allow: [name],
      timeoutMilliseconds: 20_000,
      maxBytes: 100_000,
      maxSentBytes: 100_000,
      signal: new AbortController().signal,
      metrics: openMetrics(false),
      hold: () => new DisposableStack(),
    })
  const parts = await Array.fromAsync((await connect('tcp')).parts)
  expect(Buffer.concat(parts as Uint8Array[]).toString()).toMatch(/^HTTP\/1\.1 200/)
  for (const protocol of ['tcp', 'tls', 'tcp'] as const)
    await expect(connect(protocol)).rejects.toMatchObject(notPublic)
  expect(asked).toHaveLength(4)
})

test.each([
  'file:///etc/passwd',
  'ftp://1.1.1.1/',
  'gopher://1.1.1.1/',
  'data:text/plain,hi',
  'http://user:password@1.1.1.1/',
  'http://127.0.0.1@1.1.1.1/',
  'http://1.1.1.1:8081/',
  'http://1.1.1.1:22/',
])('%s is refused', async (url) => {
  await using guard = openGuard([])
  await expect(guard.ask(url)).rejects.toMatchObject({ reason: 'forbidden' })
})

test.each(['', '/path', 'http://', 'http://[::1/', 'http://a b/', 'http://1.1.1.1:99999/'])(
  'the URL "%s" is called invalid',
  async (url) => {
    await using guard = openGuard([])
    await expect(guard.ask(url)).rejects.toMatchObject({ reason: 'invalid' })
  },
)

test('a public address is reached at an unusual port only where the caller names the port', async () => {
  const reach = openAddressPolicy(configWith([]), log)
  const target = { host: '1.1.1.1', port: 8443, mayBePrivate: true }
  await expect(reach.checkAddress({ ...target, portIsNamed: false })).rejects.toMatchObject({ reason: 'forbidden' })
  await expect(reach.checkAddress({ ...target, portIsNamed: true })).resolves.toBeUndefined()
  await expect(reach.checkAddress({ ...target, port: 443, portIsNamed: false })).resolves.toBeUndefined()
})

test('a port of another protocol is never reached, unless the operator opened the very port', async () => {
  const target = { port: 25, portIsNamed: true, mayBePrivate: true }
  const refused = { reason: 'forbidden', message: expect.stringContaining('a protocol other than HTTP') }
  const reach = openAddressPolicy(configWith(['10.0.0.0/8', '10.0.0.1:25']), log)
  await expect(reach.checkAddress({ ...target, host: '1.1.1.1' })).rejects.toMatchObject(refused)
  await expect(reach.checkAddress({ ...target, host: '10.0.0.2' })).rejects.toMatchObject(refused)
  await expect(reach.checkAddress({ ...target, host: '10.0.0.1' })).resolves.toBeUndefined()
})

describe("the operator's opening", () => {
  test.each([
    ['an address', () => '127.0.0.1'],
    ['an address and port', () => `127.0.0.1:${open.port}`],
    ['a network', () => '127.0.0.0/8'],
    ['a network and port', () => `127.0.0.0/8:${open.port}`],
  ])('of %s lets every spelling of it through', async (_what, opening) => {
    await using guard = openGuard([opening()], { resolve: namesAt({ 'n8n.lan': ['127.0.0.1'] }) })
    for (const host of ['127.0.0.1', '2130706433', '[::ffff:7f00:1]', 'n8n.lan', 'N8N.lan.']) {
      expect(await guard.ask(`http://${host}:${open.port}/`)).toMatchObject({ status: 200, text: 'open' })
    }
  })

  test('of a name lets that name through and no other', async () => {
    const others = ['other.internal', 'sub.backend.internal', 'internal', '127.0.0.1']
    const resolve = namesAt(Object.fromEntries(['backend.internal', ...others].map((host) => [host, ['127.0.0.1']])))
    await using guard = openGuard([`backend.internal:${open.port}`], { resolve })
    expect(await guard.ask(`http://backend.internal:${open.port}/`)).toMatchObject({ text: 'open' })
    for (const host of others) {
      await expect(guard.ask(`http://${host}:${open.port}/`)).rejects.toMatchObject(notPublic)
    }
  })

  test('of a name that only this machine knows finds it', async () => {
    await using guard = openGuard([`localhost:${open.port}`])
    expect(await guard.ask(`http://localhost:${open.port}/`)).toMatchObject({ text: 'open' })
  })

  test('of one port opens no other', async () => {
    await using guard = openGuard([`127.0.0.1:${open.port}`])
    await expect(guard.ask(closed.url)).rejects.toMatchObject(notPublic)
    expect(closed.connections()).toBe(0)
  })

  test('is not for callers whose list has everybody on it, unless it names the host as well', async () => {
    await using guard = openGuard(['127.0.0.1'], { resolve: namesAt({ 'n8n.lan': ['127.0.0.1'] }) })
    const url = `http://n8n.lan:${open.port}/`
    for (const allow of [['*'], [`*:${open.port}`], ['*', 'other.lan']]) {
      await expect(guard.ask(url, { allow })).rejects.toMatchObject(notPublic)
    }
    expect(await guard.ask(url, { allow: ['*', 'n8n.lan'] })).toMatchObject({ text: 'open' })
    // A connection that was made for the one list is not for the other.
    await expect(guard.ask(url, { allow: ['*'] })).rejects.toMatchObject(notPublic)
  })

  test("does not widen a caller's list", async () => {
    await using guard = openGuard(['127.0.0.1'])
    await expect(guard.ask(open.url, { allow: ['api.example.com'] })).rejects.toMatchObject({ reason: 'forbidden' })
    await expect(guard.ask(open.url, { allow: [] })).rejects.toMatchObject({ reason: 'forbidden' })
    expect(await guard.ask(open.url, { allow: ['127.0.0.1'] })).toMatchObject({ status: 200 })
  })
})

describe("the platform's own servers are never reached, although all of this machine is opened", () => {
  const everything = ['0.0.0.0/0', '::/0', 'localhost', 'database.internal']

  test.each([
    ['PostgreSQL', (port: number) => ({ DATABASE_URL: `postgres://user:password@127.0.0.1:${port}/isobot` })],
    ['PostgreSQL by name', (port: number) => ({ DATABASE_URL: `postgres://user:password@localhost:${port}/isobot` })],
    ['Redis', (port: number) => ({ REDIS_URL: `redis://:password@127.0.0.1:${port}/0` })],
    ['PostgreSQL behind a socket', (port: number) => ({ DATABASE_URL: `postgres://user@%2Fvar%2Frun:${port}/isobot` })],
    ['Redis at an IPv6 address', (port: number) => ({ REDIS_URL: `redis://[::1]:${port}` })],
    ['the api', (port: number) => ({ PORT: String(port) })],
    ['the api at one interface', (port: number) => ({ PORT: String(port), HOST: '127.0.0.1' })],
    ['a worker’s metrics', (port: number) => ({ METRICS_PORT: String(port) })],
    ['the api at all interfaces', (port: number) => ({ PORT: String(port), HOST: '0.0.0.0' })],
  ])('%s', async (_what, environment) => {
    const resolve = namesAt({ localhost: ['127.0.0.1'], 'database.internal': ['64:ff9b::7f00:1', '127.0.0.1'] })
    await using guard = openGuard(everything, { resolve, environment: environment(closed.port) })
    const hosts = [...loopbackSpellings, '127.0.0.2', '0.0.0.0', '[::1]', '[::]', 'localhost', 'database.internal']
    for (const host of hosts) {
      await expect(guard.ask(`http://${host}:${closed.port}/`)).rejects.toMatchObject(notPublic)
    }
    expect(closed.connections()).toBe(0)
    expect(await guard.ask(open.url)).toMatchObject({ text: 'open' })
  })

  test('nor any server at their port while their address is unknown', async () => {
    await using guard = openGuard(everything, {
      environment: { DATABASE_URL: `postgres://database.invalid:${closed.port}/isobot` },
    })
    await expect(guard.ask(closed.url)).rejects.toMatchObject(notPublic)
    expect(closed.connections()).toBe(0)
  })

  test('at their usual ports, where the URL names none', async () => {
    const reach = openAddressPolicy(
      configWith(everything, { DATABASE_URL: 'postgres://127.0.0.1/isobot', REDIS_URL: 'redis://127.0.0.1' }),
      log,
    )
    for (const port of [5432, 6379]) {
      const target = { host: '127.0.0.1', port, portIsNamed: true, mayBePrivate: true }
      await expect(reach.checkAddress(target)).rejects.toMatchObject(notPublic)
    }
  })
})

describe("a caller's list", () => {
  const addresses = ['127.0.0.1']
  const resolve = namesAt({
    'example.com': addresses,
    'api.example.com': addresses,
    'a.b.example.com': addresses,
    'notexample.com': addresses,
    'xn--bcher-kva.example': addresses,
  })

  test.each([
    ['api.example.com', 'api.example.com'],
    ['api.example.com', 'API.example.com.'],
    ['API.Example.com', 'api.example.com'],
    ['*.example.com', 'api.example.com'],
    ['*.example.com', 'a.b.example.com'],
    ['bücher.example', 'bücher.example'],
    ['xn--bcher-kva.example', 'BÜCHER.example'],
  ])('with %s allows %s', async (entry, host) => {
    await using guard = openGuard([`127.0.0.1:${open.port}`], { resolve })
    expect(await guard.ask(`http://${host}:${open.port}/`, { allow: ['other.example', entry] })).toMatchObject({
      text: 'open',
    })
  })

  test.each([
    ['api.example.com', 'example.com'],
    ['example.com', 'api.example.com'],
    ['*.example.com', 'example.com'],
    ['*.example.com', 'notexample.com'],
    ['*example.com', 'notexample.com'],
    ['*.example.com', 'api.example.com.evil.test'],
    ['api.example.com', 'api.example.com.evil.test'],
    ['', 'example.com'],
    ['api.example.com:443', 'api.example.com'],
    ['*.0.0.1', '127.0.0.1'],
  ])('with %s does not allow %s', async (entry, host) => {
    await using guard = openGuard([`127.0.0.1:${open.port}`], { resolve })
    await expect(guard.ask(`http://${host}:${open.port}/`, { allow: [entry] })).rejects.toMatchObject({
      reason: 'forbidden',
      message: expect.stringContaining('is not among the hosts'),
    })
  })
})
