import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askNameServers } from '../../../worker/outbound/resolver.ts'
import { installCode } from '../../support/install-code.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'
import { startCanary, type Canary } from './canary.ts'
import { startNameServer, type NameServer } from './name-server.ts'
import { startTarget, type Target } from './fixture.ts'
import {
  addressesThatAreNotPublic,
  hostsThatWereNotGranted,
  portsOfOtherProtocols,
  spellingsOfThisMachine,
} from './vectors.ts'

/**
 * Everything here is asked for by bot code, in its isolate, and goes the whole way: through the sandbox process and the
 * worker's `fetch` to the guard. Names are asked of a name server of the test's own. Where a request would arrive on
 * this machine, a canary listens.
 */

/** At 127.0.0.1, which the operator opened for this port alone: what stands for the internet. */
let open: Target
/** At every address of this machine, at another port. */
let canary: Canary
/** At other addresses of this machine, at the port of `open`. */
let neighbours: Canary[]
let nameServer: NameServer
let platform: Platform
let bot: { id: string; integrationId: string }

const nameOf = (address: string): string => `${address.replaceAll(/[.:]/g, '-')}.zone.test`.replace(/^-/, 'x-')

const zone: Parameters<typeof startNameServer>[0] = {
  ...Object.fromEntries(addressesThatAreNotPublic.map(([, address]) => [nameOf(address), () => [address]])),
  ...Object.fromEntries(hostsThatWereNotGranted.map(([, host]) => [URL.parse(`http://${host}`)!.hostname, here])),
  'open.test': here,
  'example.com': here,
  'this-machine.test': () => ['127.0.0.53'],
  'this-machine-6.test': () => ['::1'],
  'mapped.test': () => ['::ffff:127.0.0.1'],
  'unspecified.test': () => ['0.0.0.0'],
  'unspecified-6.test': () => ['::'],
  'alias.test': () => ['this-machine.test'],
  'alias-of-alias.test': () => ['alias.test'],
  'alias-6.test': () => ['this-machine-6.test'],
  'open-and-private.test': () => ['127.0.0.1', '127.0.0.2'],
  'open-and-private-6.test': () => ['127.0.0.1', '::1'],
  'open-and-alias.test': () => ['open.test', '127.0.0.2'],
  'public-and-private.test': () => ['192.0.43.8', '127.0.0.2'],
  'rebinding.test': (times) => [times === 0 ? '127.0.0.1' : '127.0.0.2'],
  'rebinding-6.test': (times) => (times === 0 ? ['127.0.0.1'] : ['::1']),
  'rebinding-alias.test': (times) => [times === 0 ? 'open.test' : 'this-machine.test'],
  'fickle.test': (times) => [times % 2 === 0 ? '127.0.0.1' : '127.0.0.2'],
}

function here(): string[] {
  return ['127.0.0.1']
}

beforeAll(async () => {
  open = await startTarget((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://open.test')
    // Nobody comes by an old connection: each request has its name resolved.
    response.setHeader('connection', 'close')
    const to = searchParams.get('to')
    if (to === null) response.end('open')
    else response.writeHead(Number(searchParams.get('status') ?? 302), { location: to }).end()
  })
  canary = await startCanary()
  neighbours = [await startCanary('127.0.0.2', open.port), await startCanary('::1', open.port)]
  neighbours.push(await startCanary('127.0.0.53', open.port))
  nameServer = await startNameServer(zone)
  platform = await openPlatform({
    environment: { OUTBOUND_ALLOW_PRIVATE: `127.0.0.1:${open.port}` },
    resolve: askNameServers([nameServer.address]),
  })
  const { body } = await platform.ask('POST', '/v1/admin/bots', {})
  const code = `export const actions = { async ask({ input: { url, options } }) {
    try {
      const response = await fetch(url, options)
      return { status: response.status, text: await response.text() }
    } catch (error) {
      return { error: error.name, message: error.message, reason: error.cause?.code ?? '' }
    }
  } }`
  bot = { id: body.bot.id, integrationId: (await installCode(platform, body.bot.id, code)).integrationId }
})
afterAll(async () => {
  await platform[Symbol.asyncDispose]()
  for (const part of [open, canary, ...neighbours, nameServer]) await part[Symbol.asyncDispose]()
})

interface Observed {
  status?: number
  text?: string
  error?: string
  message?: string
  reason?: string
}

/** Has bot code fetch a URL. */
async function ask(url: string, options: object = {}): Promise<Observed> {
  const input = { url, options }
  const headers = { 'x-bot-id': bot.id }
  const { body } = await platform.ask('POST', '/v1/chat/actions', { type: 'tool:ask', input }, headers)
  return body.output
}

let granted: string[] = []

/** Grants hosts to the code. */
async function grant(net: string[]): Promise<void> {
  if (net.join() === granted.join()) return
  granted = net
  await platform.ask('PUT', `/v1/admin/integrations/${bot.integrationId}`, { permissions: { net } })
}

const everything = () => ['*', `*:${canary.port}`, `*:${open.port}`, `127.0.0.1:${open.port}`, `*.test:${open.port}`]

const nothingArrived = () => {
  for (const one of [canary, ...neighbours]) expect(one.connections()).toBe(0)
}

/** Asks with all hosts granted; tells how many came to where nobody may. */
async function requestRefused(url: string, options?: object): Promise<Observed & { arrived: number }> {
  await grant(everything())
  const told = await ask(url, options)
  return { ...told, arrived: [canary, ...neighbours].reduce((sum, one) => sum + one.connections(), 0) }
}

const refusedAsPrivate = {
  error: 'TypeError',
  message: expect.stringContaining('is not at a public address'),
  reason: 'forbidden',
  arrived: 0,
}

const redirectTo = (location: string, status = 302): string =>
  `${open.url}/?status=${status}&to=${encodeURIComponent(location)}`

test('hosts that the operator opened are reached, by address and by name: the rows below fail for their own reason', async () => {
  await grant(everything())
  expect(await ask(open.url)).toEqual({ status: 200, text: 'open' })
  expect(await ask(`http://open.test:${open.port}/`)).toEqual({ status: 200, text: 'open' })
  expect(await ask(redirectTo(`http://open.test:${open.port}/`))).toEqual({ status: 200, text: 'open' })
  expect(nameServer.questions).toContain('AAAA open.test')
})

describe('this machine is refused', () => {
  test.each(spellingsOfThisMachine)('as %s', async (host) =>
    expect(await requestRefused(`http://${host}:${canary.port}/`)).toMatchObject(refusedAsPrivate),
  )

  test.each(['127.0.0.1', '[::1]', '2130706433'])('over TLS as %s', async (host) =>
    expect(await requestRefused(`https://${host}:${canary.port}/`)).toMatchObject(refusedAsPrivate),
  )

  test.each([
    'this-machine.test',
    'THIS-MACHINE.test.',
    'this-machine-6.test',
    'mapped.test',
    'unspecified.test',
    'unspecified-6.test',
  ])('behind the name %s', async (host) =>
    expect(await requestRefused(`http://${host}:${canary.port}/`)).toMatchObject(refusedAsPrivate),
  )

  test.each(['alias.test', 'alias-of-alias.test', 'alias-6.test'])('behind the alias %s', async (host) =>
    expect(await requestRefused(`http://${host}:${canary.port}/`)).toMatchObject(refusedAsPrivate),
  )

  test.each(['open-and-private.test', 'open-and-private-6.test', 'open-and-alias.test', 'public-and-private.test'])(
    'among the addresses of %s',
    async (host) => expect(await requestRefused(`http://${host}:${open.port}/`)).toMatchObject(refusedAsPrivate),
  )
})

describe('an address that is not public is refused', () => {
  test.each(addressesThatAreNotPublic)('%s: %s', async (_what, address) => {
    const host = address.includes(':') ? `[${address}]` : address
    expect(await requestRefused(`http://${host}:${canary.port}/`)).toMatchObject(refusedAsPrivate)
    expect(await requestRefused(`http://${nameOf(address)}:${canary.port}/`)).toMatchObject(refusedAsPrivate)
    expect(nameServer.questions).toContain(`${address.includes(':') ? 'AAAA' : 'A'} ${nameOf(address)}`)
  })
})

describe('a name that moves is refused where it moved', () => {
  test.each(['rebinding.test', 'rebinding-6.test', 'rebinding-alias.test'])('%s', async (host) => {
    await grant(everything())
    const url = `http://${host}:${open.port}/`
    expect(await ask(url)).toEqual({ status: 200, text: 'open' })
    expect(await requestRefused(url)).toMatchObject(refusedAsPrivate)
    // After the refusal, the name is resolved again.
    expect(await requestRefused(redirectTo(url))).toMatchObject(refusedAsPrivate)
  })

  test('a request asks once, and goes to what was judged', async () => {
    await grant(everything())
    expect(await ask(`http://fickle.test:${open.port}/`)).toEqual({ status: 200, text: 'open' })
    expect(nameServer.questions.filter((question) => question.endsWith(' fickle.test'))).toHaveLength(2)
    nothingArrived()
  })
})

describe('a redirect is refused', () => {
  test.each([301, 302, 303, 307, 308])('with %i, to this machine', async (status) => {
    expect(await requestRefused(redirectTo(`http://127.0.0.1:${canary.port}/`, status))).toMatchObject(refusedAsPrivate)
    expect(
      await requestRefused(redirectTo(`http://127.0.0.1:${canary.port}/`, status), { method: 'POST', body: 'x' }),
    ).toMatchObject(refusedAsPrivate)
  })

  test.each([
    ['without its scheme', () => `//2130706433:${canary.port}/`],
    ['to another scheme', () => `https://[::1]:${canary.port}/`],
    ['to a name', () => `http://this-machine.test:${canary.port}/`],
    ['to an alias', () => `http://alias.test:${open.port}/`],
    ['to the same address in another dress', () => `http://[::ffff:127.0.0.1]:${canary.port}/`],
    ['after another one', () => redirectTo(redirectTo(`http://127.0.0.1:${canary.port}/`))],
    ['to the metadata of a cloud', () => 'http://169.254.169.254/latest/meta-data/'],
    ['to a private network', () => 'http://10.0.0.1/'],
    ['to a private network in IPv6', () => 'http://[fd00:ec2::254]/latest'],
  ])('%s', async (_what, location) =>
    expect(await requestRefused(redirectTo(location()))).toMatchObject(refusedAsPrivate),
  )

  test.each([
    ['to a file', 'file:///etc/passwd', 'forbidden'],
    ['to data', 'data:text/plain,hi', 'forbidden'],
    ['to FTP', 'ftp://127.0.0.1/', 'forbidden'],
    ['with a password', 'http://user:word@open.test/', 'forbidden'],
    ['to what is no URL', 'http://[', 'invalid'],
    ['to a port that was not named', 'http://open.test:1234/', 'forbidden'],
  ])('%s', async (_what, location, reason) => {
    await grant(everything())
    expect(await ask(redirectTo(location))).toMatchObject({ error: 'TypeError', reason })
    nothingArrived()
  })
})

describe('a host that was not granted is refused', () => {
  test.each(hostsThatWereNotGranted)('with %s granted: %s', async (entry, host) => {
    await grant([`${entry}:${open.port}`])
    const before = open.connections()
    expect(await ask(`http://${host}:${open.port}/`)).toMatchObject({
      message: expect.stringContaining('is not among the hosts'),
      reason: 'forbidden',
    })
    expect(open.connections()).toBe(before)
  })

  test.each([
    ['the granted one behind a backslash', (port: number) => `http://open.test:${port}\\@example.com/`],
    ['the granted one in the path', (port: number) => `http://open.test:${port}/example.com`],
    ['the granted one in the fragment', (port: number) => `http://open.test:${port}#@example.com/`],
  ])('with %s', async (_what, url) => {
    await grant(['example.com', `example.com:${open.port}`])
    const before = open.connections()
    expect(await ask(url(open.port))).toMatchObject({ error: 'TypeError', reason: 'forbidden' })
    expect(open.connections()).toBe(before)
  })

  test('after a redirect', async () => {
    await grant([`127.0.0.1:${open.port}`])
    expect(await ask(redirectTo(`http://open.test:${open.port}/`))).toMatchObject({ reason: 'forbidden' })
  })
})

test.each([
  ['the granted one as the user', (port: number) => `http://example.com@open.test:${port}/`],
  [
    'the granted one as the user and its port as the password',
    (port: number) => `http://example.com:80@open.test:${port}/`,
  ],
])('a host with %s is not even asked for', async (_what, url) => {
  await grant(everything())
  const before = open.connections()
  expect(await ask(url(open.port))).toMatchObject({
    error: 'TypeError',
    message: expect.stringContaining('must not contain a user or password'),
  })
  expect(open.connections()).toBe(before)
})

describe('invalid requests are refused', () => {
  test.each([
    'file:///etc/passwd',
    'ftp://open.test/',
    'blob:http://open.test/1',
    'gopher://open.test/',
    'ws://open.test/',
    'javascript:1',
  ])('%s', async (url) => {
    await grant(everything())
    expect(await ask(url)).toMatchObject({ error: 'TypeError' })
    nothingArrived()
  })

  test.each(['CONNECT', 'TRACE', 'track', 'GET / HTTP/1.1\r\nx:'])('the method %j', async (method) => {
    await grant(everything())
    const before = open.connections()
    expect(await ask(open.url, { method })).toMatchObject({ error: 'TypeError' })
    expect(open.connections()).toBe(before)
  })

  test.each([
    ['a line break', { 'x-a': 'b\r\nx-c: d' }],
    ['a lone line feed', { 'x-a': 'b\nx-c: d' }],
    ['a line break in its name', { 'x-a\r\nx-c': 'd' }],
    ['a colon in its name', { 'x-a:': 'd' }],
    ['no name', { '': 'd' }],
  ])('a header with %s', async (_what, headers) => {
    await grant(everything())
    const before = open.connections()
    expect(await ask(open.url, { headers })).toMatchObject({ error: 'TypeError' })
    expect(open.connections()).toBe(before)
  })

  test('a port that is not named', async () => {
    await grant(['*', '*.test:8080'])
    expect(await ask('http://192.0.43.8:8080/')).toMatchObject({
      message: expect.stringContaining('Port 8080 of 192.0.43.8 may not be requested'),
      reason: 'forbidden',
    })
  })

  test.each(portsOfOtherProtocols)('port %i', async (port) => {
    await grant([`*:${port}`])
    expect(await ask(`http://192.0.43.8:${port}/`)).toMatchObject({
      message: expect.stringContaining('a protocol other than HTTP'),
      reason: 'forbidden',
    })
  })
})

describe("the platform's own servers are refused", () => {
  test.each(['DATABASE_URL', 'REDIS_URL', 'PORT'])('%s', async (variable) => {
    const value = platform.environment[variable]!
    const port = variable === 'PORT' ? value : new URL(value).port
    await grant([`*:${port}`])
    for (const host of ['127.0.0.1', 'localhost', '[::1]', 'this-machine.test', '0.0.0.0']) {
      expect(await ask(`http://${host}:${port}/`)).toMatchObject({
        error: 'TypeError',
        reason: expect.stringMatching(/^(forbidden|unresolvable)$/),
      })
    }
  })
})
