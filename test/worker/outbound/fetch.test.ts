import type { IncomingMessage, RequestListener } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createChatUser } from '../../support/chat-client.ts'
import { installCode, logOf } from '../../support/install-code.ts'
import { endedEvents } from '../../support/outcomes.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'
import { startTarget, type Target } from './fixture.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform({
    environment: { OUTBOUND_ALLOW_PRIVATE: '127.0.0.1,localhost', OUTBOUND_DISCARD: '*.usage.localhost' },
  })
})
afterAll(() => platform[Symbol.asyncDispose]())

/** A server on 127.0.0.1, which the operator opened. */
async function serve(answer: RequestListener): Promise<Target> {
  const target = await startTarget(answer)
  onTestFinished(() => target[Symbol.asyncDispose]())
  return target
}

/** A bot that does this when it hears something, once more if it fails; what it returns is written to the log. */
const hook = (body: string) => `
  export const retry = { attempts: 2, backoff: 1 }
  export const hooks = {
    async afterIncomingMessage({ event, client, logger }) {
      const reason = (error) => [error.name, error.message, error.cause?.code]
      const told = await (async () => { ${body} })()
      logger.info('told ' + JSON.stringify(told ?? null))
    },
  }`

async function createBot(code: string, net?: string[], limits?: object): Promise<{ id: string; chatUrl: string }> {
  const fields = { code, ...(net && { permissions: { net } }), ...(limits && { limits }) }
  const { body, status } = await platform.ask('POST', '/v1/admin/bots', fields)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return { id: body.bot.id, chatUrl: body.bot.integrations.chat.webhookUrl }
}

/** Says something to a bot; gives its event and log, and what it told there. */
async function wake({ id, chatUrl }: { id: string; chatUrl: string }) {
  const chatUser = await createChatUser(chatUrl)
  await chatUser.send(await chatUser.createConversation(), 'go')
  const ended = () =>
    platform.context.db('events').where({ bot_id: id, type: 'message_created' }).whereNot({ status: 'pending' }).first()
  await expect.poll(ended, { timeout: 30_000, interval: 20 }).toBeDefined()
  const event = await ended()
  const log = await logOf(platform, id)
  const told = log.find((line) => line.startsWith('info told '))
  // oxlint-disable-next-line typescript/no-unsafe-assignment -- It is asserted on field by field.
  return { event: event!, log, told: told === undefined ? undefined : JSON.parse(told.slice('info told '.length)) }
}

const run = async (body: string, net?: string[]) => wake(await createBot(hook(body), net))

/** Runs code that fails to fetch or to read the response: the error's name, message and code. */
const failure = async (url: string, net: string[], options = '{}') => {
  const code = `return fetch(${JSON.stringify(url)}, ${options}).then((response) => response.bytes()).catch(reason)`
  return (await run(code, net)).told as [string, string, string]
}

describe('fetch', () => {
  test('brings any status that a server may send', async () => {
    const { port } = await serve((_request, response) => void response.writeHead(999, 'Denied').end('no programs'))
    const { told } = await run(
      `const response = await fetch('http://127.0.0.1:${port}/')
      return [response.status, response.statusText, response.ok, response.clone().status, await response.text()]`,
      ['127.0.0.1'],
    )
    expect(told).toEqual([999, 'Denied', false, 999, 'no programs'])
  })

  test('brings a bot what the server answers, and the server what the bot sends', async () => {
    let seen: IncomingMessage | undefined
    const { port } = await serve(async (request, response) => {
      seen = request
      response.setHeader('set-cookie', ['a=1', 'b=2'])
      response.writeHead(201, 'Made', { 'content-type': 'application/json' })
      response.end(JSON.stringify({ got: String(await buffer(request)) }))
    })
    const { told } = await run(
      `const response = await fetch('http://127.0.0.1:${port}/things?x=1#part', {
        method: 'post', body: JSON.stringify({ a: 'é' }), headers: { 'x-mine': 'yes', 'content-type': 'application/json' } })
      const { status, statusText, ok, url, redirected, headers } = response
      return { status, statusText, ok, url, redirected, cookies: headers.getSetCookie(), json: await response.json() }`,
      ['127.0.0.1'],
    )
    expect(told).toEqual({
      status: 201,
      statusText: 'Made',
      ok: true,
      url: `http://127.0.0.1:${port}/things?x=1`,
      redirected: false,
      cookies: ['a=1', 'b=2'],
      json: { got: '{"a":"é"}' },
    })
    expect(seen).toMatchObject({ method: 'POST', url: '/things?x=1', headers: { 'x-mine': 'yes' } })
  })

  test('carries bytes both ways', async () => {
    const { port } = await serve(async (request, response) => response.end(await buffer(request)))
    const { told } = await run(
      `const sent = Uint8Array.from({ length: 256 }, (_, index) => index)
      const response = await fetch('http://127.0.0.1:${port}/', { method: 'PUT', body: sent })
      const came = new Uint8Array(await response.arrayBuffer())
      return [came.length, came.every((byte, index) => byte === index)]`,
      ['127.0.0.1'],
    )
    expect(told).toEqual([256, true])
  })

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
  ])('decompresses %s', async (coding, compress) => {
    const { port } = await serve((request, response) => {
      const accepted = String(request.headers['accept-encoding'])
      response.setHeader('content-encoding', coding).end(compress(`hello, you take ${accepted}`))
    })
    const { told } = await run(`return (await fetch('http://127.0.0.1:${port}/')).text()`, ['127.0.0.1'])
    expect(told).toBe('hello, you take br, gzip, deflate')
  })

  test('has the headers of Node, without which services refuse requests, where the code gives none', async () => {
    const { port } = await serve(({ headers }, response) =>
      response.end(JSON.stringify([headers.accept, headers['user-agent']])),
    )
    const { told } = await run(
      `const ask = async (headers) => (await fetch('http://127.0.0.1:${port}/', { headers })).json()
      return [await ask(), await ask({ Accept: 'text/plain', 'User-Agent': 'mine' })]`,
      ['127.0.0.1'],
    )
    expect(told).toEqual([
      ['*/*', 'node'],
      ['text/plain', 'mine'],
    ])
  })

  test('of an event that is run again is made again, with the same event id', async () => {
    const keys: unknown[] = []
    const { port } = await serve((request, response) => {
      keys.push(request.headers['idempotency-key'])
      response.end(String(keys.length))
    })
    const { told, event } = await run(
      `const response = await fetch('http://127.0.0.1:${port}/', { method: 'POST', headers: { 'idempotency-key': event.id } })
      const text = await response.text()
      if (text === '1') throw new Error('once more')
      return text`,
      ['127.0.0.1'],
    )
    expect(told).toBe('2')
    expect(keys).toEqual([event.id, event.id])
  })

  test('works in a bundle of the public SDK as well', async () => {
    const { port } = await serve((_request, response) => response.end('from outside'))
    const bot = await createBot(
      `module.exports.handler = async (request) => {
        if (request.headers['x-bp-operation'] === 'event_received') {
          console.info('told ' + JSON.stringify(await (await fetch('http://127.0.0.1:${port}/')).text()))
        }
        return { status: 200, body: '{}' }
      }`,
      ['127.0.0.1'],
    )
    expect((await wake(bot)).told).toBe('from outside')
  })
})

describe('the reachable hosts of a bot', () => {
  test('is nothing until it is granted, and the error says how', async () => {
    const target = await serve((_request, response) => response.end())
    const { told } = await run(`return fetch('${target.url}/').catch(reason)`)
    expect(told).toEqual([
      'TypeError',
      expect.stringMatching(
        /^fetch failed: 127\.0\.0\.1 may not be requested.*permissions: \{ net: \['127\.0\.0\.1'\] \} with updateBot.*isobot\.json/,
      ),
      'forbidden',
    ])
    expect(target.connections()).toBe(0)
  })

  test('is answered and not sent where the operator discards it, unless it is granted', async () => {
    const target = await serve((_request, response) => response.end('here'))
    const ask = (host: string) => `return fetch('http://${host}:${target.port}/', { method: 'POST', body: 'usage' })
      .then(async ({ status, ok }) => ({ status, ok }), (error) => error.cause.code)`
    for (const net of [[], ['example.com']]) {
      expect((await run(ask('app.usage.localhost'), net)).told).toEqual({ status: 204, ok: true })
    }
    expect((await run(ask('usage.localhost'), [])).told).toBe('forbidden')
    expect(target.connections()).toBe(0)
    expect((await run(ask('app.usage.localhost'), ['*.localhost'])).told).not.toMatchObject({ status: 204 })
  })

  test('can be granted and taken back while it runs', async () => {
    const { url, requests } = await serve((_request, response) => response.end('here'))
    const code = hook(`return (await fetch('${url}/')).text().catch(reason)`)
    const bot = await createBot(code)
    await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { permissions: { net: ['127.0.0.1'] } })
    expect((await wake(bot)).told).toBe('here')
    await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { permissions: { net: ['example.com'] } })
    const chatUser = await createChatUser(bot.chatUrl)
    await chatUser.send(await chatUser.createConversation(), 'again')
    const [, second] = await endedEvents(platform, bot.id, 2)
    expect(second!.failure_reason).toContain('add it to permissions.net')
    expect(requests).toHaveLength(1)
  })

  test.each([
    [['localhost'], 'localhost', 'reached'],
    [['LOCALHOST'], 'localhost', 'reached'],
    [['*.localhost'], 'localhost', 'forbidden'],
    [['localhost'], 'api.localhost', 'forbidden'],
    [['ocalhost'], 'localhost', 'forbidden'],
    [['127.0.0.1'], 'localhost', 'forbidden'],
    [['localhost:PORT'], 'localhost', 'reached'],
    [['localhost:1'], 'localhost', 'forbidden'],
  ])('with %j granted: %s is %s', async (net, host, expected) => {
    const { port } = await serve((_request, response) => response.end('reached'))
    const granted = net.map((entry) => entry.replace('PORT', String(port)))
    const url = `http://${host}:${port}/`
    const { told } = await run(`return fetch('${url}').then((it) => it.text(), (error) => error.cause.code)`, granted)
    expect(told).toBe(expected)
  })

  test('is what is below a name with a star', async () => {
    const [, message] = await failure('http://no-such-name.sub.localhost:1/', ['*.localhost'])
    expect(message).not.toContain('permissions')
  })

  test('is judged again at each redirect', async () => {
    const secret = await serve((_request, response) => response.end('secret'))
    const { url } = await serve((_request, response) =>
      response.writeHead(302, { location: `http://localhost:${secret.port}/` }).end(),
    )
    expect(await failure(url, ['127.0.0.1'])).toEqual(['TypeError', expect.stringContaining('localhost'), 'forbidden'])
    expect(secret.connections()).toBe(0)
  })

  test.each([
    ['database', 'DATABASE_URL'],
    ['Redis', 'REDIS_URL'],
    ['api', 'PORT'],
  ])('is never the platform’s own %s, whatever was opened and granted', async (_what, variable) => {
    const value = platform.environment[variable]!
    const port = URL.parse(value)?.port ?? value
    for (const host of ['127.0.0.1', 'localhost']) {
      const [, message, code] = await failure(`http://${host}:${port}/`, [`127.0.0.1:${port}`, `localhost:${port}`])
      expect(code).toBe('forbidden')
      expect(message).toContain('is not at a public address')
    }
  })

  test.each([
    '127.0.0.2',
    '2130706434',
    '0x7f.2',
    '0177.0.0.2',
    '127.2',
    '[::ffff:127.0.0.2]',
    '169.254.169.254',
    '10.0.0.1',
    '0.0.0.0',
  ])('is no private address that was not opened: %s', async (host) => {
    const net = ['127.0.0.2', '169.254.169.254', '10.0.0.1', '0.0.0.0']
    const [name, , code] = await failure(`http://${host}/`, net)
    expect([name, code]).toEqual(['TypeError', 'forbidden'])
  })

  test.each(['file:///etc/passwd', 'ftp://127.0.0.1/', 'http://user:word@127.0.0.1/'])(
    'is nothing but http and https, without credentials: %s',
    async (url) => {
      expect((await failure(url, ['127.0.0.1']))[0]).toBe('TypeError')
    },
  )

  test('cannot be changed by its own code', async () => {
    const bot = await createBot(
      `module.exports.handler = async (request) => {
        if (request.headers['x-bp-operation'] === 'event_received') {
          const url = process.env.BP_API_URL + '/v1/admin/bots/' + request.headers['x-bot-id']
          const body = JSON.stringify({ permissions: { net: ['127.0.0.1'] } })
          const { status } = await fetch(url, { method: 'PUT', body, headers: { authorization: 'Bearer ' + process.env.BP_TOKEN } })
          console.info('told ' + status)
        }
        return { status: 200, body: '{}' }
      }`,
    )
    expect((await wake(bot)).told).toBeGreaterThanOrEqual(400)
    const row = await platform.context.db('bots').where({ id: bot.id }).first('permissions')
    expect(row!.permissions).toEqual({})
  })
})

/** An integration whose action `look` fetches a URL, and gives the text that came or the error's. */
const looker = (url: string) =>
  `export const actions = { look: async () => ({ text: await fetch('${url}').then((it) => it.text(), (error) => error.message) }) }`

/** Installs such an integration on a bot; `ask` has its action called. */
async function installFetcher(botNet: string[], definition: object) {
  const { url } = await serve((_request, response) => response.end('seen'))
  const { id } = await createBot(hook(''), botNet)
  const { integrationId } = await installCode(platform, id, looker(url), { definition })
  const ask = async (): Promise<string> => {
    const { body } = await platform.ask(
      'POST',
      '/v1/chat/actions',
      { type: 'tool:look', input: {} },
      { 'x-bot-id': id },
    )
    return body.output.text
  }
  return { ask, integrationId }
}

describe('an integration', () => {
  test('reaches what was granted to it, which the workspace sees and changes', async () => {
    const { ask, integrationId } = await installFetcher([], { permissions: { net: ['127.0.0.1'] } })
    expect(await ask()).toBe('seen')
    const path = `/v1/admin/integrations/${integrationId}`
    expect((await platform.ask('GET', path)).body.integration.permissions).toEqual({ net: ['127.0.0.1'] })
    const changed = await platform.ask('PUT', path, { permissions: { net: ['example.com'] } })
    expect(changed.body.integration.permissions).toEqual({ net: ['example.com'] })
    expect(await ask()).toContain('127.0.0.1')
  })

  test('draws on the requests of the event that it is called for', async () => {
    const { url, requests } = await serve((_request, response) => response.end('seen'))
    const code = hook(`
      const texts = []
      for (let n = 0; n < 2; n += 1) texts.push(await (await fetch('${url}')).text())
      for (let n = 0; n < 2; n += 1) {
        const called = client.callAction({ type: 'tool:look', input: {} })
        texts.push(await called.then(({ output }) => output.text, (error) => error.message))
      }
      return texts`)
    const created = await createBot(code, ['127.0.0.1'], { fetches: 3 })
    await installCode(platform, created.id, looker(url), { definition: { permissions: { net: ['127.0.0.1'] } } })
    const { told } = await wake(created)
    expect(told).toEqual(['seen', 'seen', 'seen', expect.stringContaining('An event may make at most 3 requests')])
    expect(requests).toHaveLength(3)
  })

  test('does not reach what was granted to the bot', async () => {
    const { ask } = await installFetcher(['127.0.0.1'], {})
    expect(await ask()).toMatch(/permissions\.net of the integration grants no hosts.*updateIntegration/)
  })
})

describe('errors of the connection', () => {
  test('is not for code to say', async () => {
    let seen: IncomingMessage | undefined
    const { port, url, requests } = await serve((request, response) => {
      seen = request
      response.end()
    })
    const headers = `{ host: 'internal.example', connection: 'x-mine', 'content-length': '3', 'transfer-encoding': 'chunked', 'x-mine': '1' }`
    await run(
      `return (await fetch('${url}/', { method: 'POST', headers: ${headers}, body: 'GET /smuggled HTTP/1.1' })).status`,
      ['127.0.0.1'],
    )
    expect(seen!.headers).toMatchObject({ host: `127.0.0.1:${port}`, 'content-length': '22', 'x-mine': '1' })
    expect(seen!.headers).not.toHaveProperty('transfer-encoding')
    expect(requests).toEqual(['POST /'])
  })

  test.each([
    ['a line break in a header', `{ headers: { 'x-a': 'b\\r\\nx-c: d' } }`],
    ['a line break in a header’s name', `{ headers: { 'x-a\\r\\nx-c': 'd' } }`],
    ['a line break in the method', `{ method: 'GET / HTTP/1.1\\r\\nx' }`],
    ['a method that opens tunnels', `{ method: 'CONNECT' }`],
  ])('%s is refused', async (_what, options) => {
    const { url, requests } = await serve((_request, response) => response.end())
    const [name] = await failure(url, ['127.0.0.1'], options)
    expect(name).toBe('TypeError')
    expect(requests).toEqual([])
  })
})

describe('redirects', () => {
  test('are followed, refused or shown', async () => {
    const { url } = await serve((request, response) => {
      if (request.url === '/end') response.end('the end')
      else response.writeHead(307, { location: '/end' }).end()
    })
    const { told } = await run(
      `const followed = await fetch('${url}/start')
      const shown = await fetch('${url}/start', { redirect: 'manual' })
      const refused = await fetch('${url}/start', { redirect: 'error' }).catch((error) => error.message)
      return [await followed.text(), followed.redirected, followed.url, shown.status, shown.headers.get('location'), refused]`,
      ['127.0.0.1'],
    )
    expect(told).toEqual(['the end', true, `${url}/end`, 307, '/end', expect.stringContaining('redirect')])
  })
})

describe('limits', () => {
  test('an event that makes more than 50 requests fails by name', async () => {
    const { url, requests } = await serve((_request, response) => response.end())
    const { event } = await run(`for (let index = 0; index < 51; index += 1) await fetch('${url}/')`, ['127.0.0.1'])
    expect(event.failure_reason).toMatch(/^network: .*50 requests/)
    // Both runs of it.
    expect(requests).toHaveLength(100)
  })

  test('actions in other isolates draw on the same number', async () => {
    const { url, requests } = await serve((_request, response) => response.end())
    const bot = await createBot(
      hook(`
        for (let index = 0; index < 30; index += 1) await fetch('${url}/')
        await client.callAction({ type: 'tool:look', input: {} })`),
      ['127.0.0.1'],
    )
    await installCode(
      platform,
      bot.id,
      `export const actions = { async look() { for (let index = 0; index < 30; index += 1) await fetch('${url}/') } }`,
      { definition: { permissions: { net: ['127.0.0.1'] } } },
    )
    const { event } = await wake(bot)
    expect(event.failure_reason).toContain('50 requests')
    expect(requests).toHaveLength(100)
  })

  test('an event has 6 requests under way at once, and the others wait', async () => {
    let inFlight = 0
    const most: number[] = []
    const { url } = await serve((_request, response) => {
      most.push(++inFlight)
      // Time enough for more to come, if more were sent.
      setTimeout(() => {
        inFlight -= 1
        response.end()
      }, 200)
    })
    const { told } = await run(
      `const answers = await Promise.all(Array.from({ length: 15 }, () => fetch('${url}/')))
      return answers.filter(({ ok }) => ok).length`,
      ['127.0.0.1'],
    )
    expect(told).toBe(15)
    expect(Math.max(...most)).toBe(6)
  })

  test('of a bot’s own hold for it', async () => {
    const { url } = await serve((request, response) => response.end(Buffer.alloc(Number(request.url!.slice(1)))))
    const stalled = await serve((_request, response) => response.write('x'))
    const code = hook(`
      const codeOf = async (url) => {
        try {
          const response = await fetch(url)
          await response.bytes()
          return response.status
        } catch (error) { if (error.cause) return error.cause.code; throw error }
      }
      const large = [await codeOf('${url}/1048576'), await codeOf('${url}/1048577')]
      return [...large, await codeOf('${stalled.url}/')]`)
    const limits = { fetches: 3, fetchMegabytes: 1, fetchMilliseconds: 1000 }
    const { told } = await wake(await createBot(code, ['127.0.0.1'], limits))
    expect(told).toEqual([200, 'too-large', 'timeout'])
    await expect.poll(stalled.openConnections).toBe(0)
    const { event } = await wake(await createBot(code, ['127.0.0.1'], { ...limits, fetches: 2 }))
    expect(event.failure_reason).toMatch(/^network: .*2 requests/)
  })

  const zeros = Buffer.alloc(64 * 1024 * 1024)
  test.each([
    ['gzip', () => gzipSync(zeros)],
    ['deflate', () => deflateSync(zeros)],
    ['br', () => brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
    ['zstd', () => zstdCompressSync(zeros)],
    ['gzip, gzip', () => gzipSync(gzipSync(zeros))],
    ['gzip, br', () => brotliCompressSync(gzipSync(zeros))],
  ])('an answer that is larger than 10 MB once it is decompressed is refused: %s', async (coding, bomb) => {
    const bytes = bomb()
    expect(bytes.length).toBeLessThan(1024 * 1024)
    const { url } = await serve((_request, response) => response.setHeader('content-encoding', coding).end(bytes))
    expect(await failure(url, ['127.0.0.1'])).toEqual([
      'TypeError',
      expect.stringContaining('larger than 10485760 bytes, decompressed'),
      'too-large',
    ])
  })

  test('an answer that is compressed more often than anybody does is refused', async () => {
    const bomb = gzipSync(gzipSync(gzipSync('small')))
    const { url } = await serve((_request, response) =>
      response.setHeader('content-encoding', 'gzip, gzip, gzip').end(bomb),
    )
    expect((await failure(url, ['127.0.0.1']))[2]).toBe('unreachable')
  })

  test('an answer that is larger than 10 MB on the wire is broken off', async () => {
    const { url } = await serve((_request, response) => response.end(Buffer.alloc(11 * 1024 * 1024)))
    expect((await failure(url, ['127.0.0.1']))[2]).toBe('too-large')
  })

  test('the body of a request may have more than a megabyte', async () => {
    const { url } = await serve(async (request, response) => void response.end(`${(await buffer(request)).length}`))
    const { told } = await run(
      `const send = (bytes) => fetch('${url}/', { method: 'POST', body: 'x'.repeat(bytes) }).then((it) => it.text())
      return [await send(1024 * 1024), await send(3 * 1024 * 1024)]`,
      ['127.0.0.1'],
    )
    expect(told).toEqual(['1048576', '3145728'])
  })
})

describe('a request that is aborted', () => {
  test.each([
    [
      'AbortError',
      `const controller = new AbortController(); setTimeout(() => controller.abort(), 500); const { signal } = controller`,
    ],
    ['TimeoutError', `const signal = AbortSignal.timeout(500)`],
  ])('rejects with %s, and its connection is closed', async (name, signal) => {
    const { url, openConnections } = await serve(() => {})
    const { told, log } = await run(`${signal}; return fetch('${url}/', { signal }).catch((error) => error.name)`, [
      '127.0.0.1',
    ])
    expect(told).toBe(name)
    expect(log[0]).toMatch(/^warn fetch GET 127\.0\.0\.1:\d+\/ failed: aborted, \d+ ms$/)
    // The guard would give up after 30 s by itself.
    await expect.poll(openConnections, { timeout: 10_000 }).toBe(0)
  })
})

describe('the log', () => {
  test('has one line for each request, with its host and nothing of its content', async () => {
    const { port, url } = await serve((_request, response) =>
      response.writeHead(404, { 'x-answer': 'hush-answer-header' }).end('hush-answer'),
    )
    const { event, log } = await run(
      `await fetch('${url}/a/b?key=hush-query#hush-part', { method: 'POST', body: 'hush-body', headers: { authorization: 'hush-header' } })
      await fetch('http://127.0.0.2:${port}/c?key=hush-query', { headers: { 'x-key': 'hush-header' } }).catch(() => {})
      await fetch('http://hush-user:hush-word@127.0.0.1:${port}/d')`,
      ['127.0.0.1'],
    )
    expect(log.slice(0, 2)).toEqual([
      expect.stringMatching(new RegExp(`^info fetch POST 127\\.0\\.0\\.1:${port}/a/b 404, \\d+ ms$`)),
      expect.stringMatching(new RegExp(`^warn fetch GET 127\\.0\\.0\\.2:${port}/c failed: forbidden, \\d+ ms$`)),
    ])
    expect(event.failure_reason).toContain('password')
    expect([...log, event.failure_reason].join('\n')).not.toContain('hush')
  })

  test('does not show the secrets of an integration, though they stand in a path', async () => {
    const { url } = await serve((_request, response) => response.end())
    const { id } = await createBot(hook(''))
    await installCode(
      platform,
      id,
      `export async function register({ env }) { await fetch('${url}/bot' + env.SECRET_TOKEN + '/getMe') }`,
      { definition: { permissions: { net: ['127.0.0.1'] }, secrets: { TOKEN: '123:hush-token' } } },
    )
    const log = (await logOf(platform, id)).join('\n')
    expect(log).toContain('/bot***/getMe 200')
    expect(log).not.toContain('hush')
  })
})
