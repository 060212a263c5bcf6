import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Method } from '../../../worker/outbound/redirects.ts'
import type { OutboundRequest } from '../../../worker/outbound/open-outbound.ts'
import { startDripping } from './dripping.ts'
import { openGuard, startTarget, usual, type Guard, type Target } from './fixture.ts'

let target: Target
let guard: Guard
/** Answers that the server at `/held` holds back. */
const held: ServerResponse[] = []

beforeAll(async () => {
  target = await startTarget(answer)
  guard = openGuard([`127.0.0.1:${target.port}`])
})
afterAll(async () => {
  await guard[Symbol.asyncDispose]()
  await target[Symbol.asyncDispose]()
})

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, kind, number] = (request.url ?? '').split('/')
  switch (kind) {
    case 'bytes':
      response.end(Buffer.alloc(Number(number)))
      break
    case 'endless':
      response.on('drain', () => pour(response))
      pour(response)
      break
    case 'started':
      response.writeHead(200).write('some')
      break
    case 'broken':
      response.writeHead(200, { 'content-length': 100 }).write('some', () => response.destroy())
      break
    case 'held':
      held.push(response)
      break
    case 'large-headers':
      response.writeHead(200, { 'x-large': 'x'.repeat(100_000) }).end()
      break
    default:
      response.end(
        JSON.stringify({ raw: request.rawHeaders, port: request.socket.remotePort, body: await text(request) }),
      )
  }
}

/** The port from which a tenant's request came. */
async function portFor(tenant: string): Promise<number> {
  const response = await request('/echo', { tenant })
  return (JSON.parse(await text(response.body)) as { port: number }).port
}

function pour(response: ServerResponse): void {
  while (response.write(Buffer.alloc(64 * 1024)));
}

function request(path: string, options: Partial<OutboundRequest> = {}) {
  return guard.outbound.request({ ...usual, url: `${target.url}${path}`, ...options })
}

describe('a request', () => {
  test('arrives with its method, query, headers and body', async () => {
    const options = { method: 'PUT', headers: { 'X-Given': 'yes' }, body: Buffer.from('grüß') } as const
    const response = await request('/echo?a=1&b=%20', options)
    expect(response).toMatchObject({ status: 200, statusText: 'OK', url: `${target.url}/echo?a=1&b=%20` })
    expect(JSON.parse(await text(response.body))).toMatchObject({
      raw: expect.arrayContaining(['x-given', 'yes']),
      body: 'grüß',
    })
    expect(target.requests).toContain('PUT /echo?a=1&b=%20')
  })

  test('says nothing of its connection that the caller made up', async () => {
    const headers = {
      Host: 'internal.example',
      'Content-Length': '0',
      'Transfer-Encoding': 'chunked',
      Connection: 'x-given',
      'Keep-Alive': 'timeout=1000',
      'Proxy-Authorization': 'Basic secret',
      'Proxy-Connection': 'keep-alive',
      'Proxy-Authenticate': 'Basic',
      'Proxy-Anything': 'yes',
      TE: 'trailers',
      Trailer: 'x-trailer',
      Upgrade: 'websocket',
      Expect: '100-continue',
      'HTTP2-Settings': 'AAMAAABkAAQAAP__',
      'X-Given': 'yes',
    }
    const response = await request('/echo', { method: 'POST', headers, body: 'GET /smuggled HTTP/1.1\r\n\r\n' })
    const { raw, body } = JSON.parse(await text(response.body)) as { raw: string[]; body: string }
    const told = Object.fromEntries(raw.flatMap((name, at) => (at % 2 ? [] : [[name.toLowerCase(), raw[at + 1]]])))
    expect(told).toEqual({
      host: `127.0.0.1:${target.port}`,
      connection: 'keep-alive',
      'content-length': '26',
      'x-given': 'yes',
    })
    expect(body).toBe('GET /smuggled HTTP/1.1\r\n\r\n')
    expect(target.requests).not.toContain('GET /smuggled')
  })

  test('with a body of a GET has a connection of its own, which no service can take for another request’s', async () => {
    const response = await request('/echo', { method: 'GET', body: 'GET /smuggled HTTP/1.1\r\n\r\n' })
    const { raw, body } = JSON.parse(await text(response.body)) as { raw: string[]; body: string }
    expect(raw[raw.findIndex((name) => name.toLowerCase() === 'connection') + 1]).toBe('close')
    expect(body).toBe('GET /smuggled HTTP/1.1\r\n\r\n')
    expect(target.requests).not.toContain('GET /smuggled')
  })

  test.each<[string, Partial<OutboundRequest>]>([
    ['a line break in a header', { headers: { 'x-given': 'yes\r\nx-smuggled: yes' } }],
    ['a line break in the name of a header', { headers: { 'x-given: yes\r\nx-smuggled': 'yes' } }],
    ['a space in the name of a header', { headers: { 'transfer-encoding ': 'chunked' } }],
    ['a line break in the method', { method: 'GET /smuggled HTTP/1.1\r\nx:' as Method }],
    ['a line feed in a header', { headers: { 'x-given': 'yes\nx-smuggled: yes' } }],
    ['a zero in a header', { headers: { 'x-given': 'yes\0' } }],
    ['a header without a name', { headers: { '': 'yes' } }],
    ['a method for proxies', { method: 'CONNECT' as Method }],
    ['a method that has secrets come back', { method: 'TRACE' as Method }],
    ['its former name', { method: 'TRACK' as Method }],
    ['a method in lower case', { method: 'get' as Method }],
  ])('with %s is called invalid, and not sent', async (_what, options) => {
    const before = target.requests.length
    await expect(request('/echo', options)).rejects.toMatchObject({ reason: 'invalid' })
    expect(target.requests).toHaveLength(before)
  })

  test('with a line break in its path stays one request', async () => {
    const response = await request('/echo HTTP/1.1\r\nx-smuggled: yes\r\n\r\nGET /smuggled')
    expect(await text(response.body)).not.toContain('x-smuggled')
    expect(target.requests).not.toContain('GET /smuggled')
  })
})

describe('an answer', () => {
  test('may be as large as is allowed, and no larger', async () => {
    expect((await text((await request('/bytes/5000', { maxResponseBytes: 5000 })).body)).length).toBe(5000)
    const response = await request('/bytes/5001', { maxResponseBytes: 5000 })
    await expect(text(response.body)).rejects.toMatchObject({ reason: 'too-large' })
  })

  test('without an end is broken off', async () => {
    const tenant = 'bot_endless'
    const response = await request('/endless', { tenant })
    const before = await target.openConnections()
    await expect(text(response.body)).rejects.toMatchObject({ reason: 'too-large' })
    await expect.poll(() => target.openConnections()).toBeLessThan(before)
  })

  test('may not have endless headers', async () => {
    await expect(request('/large-headers')).rejects.toMatchObject({ reason: 'too-large' })
  })

  test('that breaks off is an error, not a short body', async () => {
    const response = await request('/broken')
    await expect(text(response.body)).rejects.toMatchObject({ reason: 'unreachable' })
  })

  test('that is not wanted frees its connection', async () => {
    const response = await request('/started', { tenant: 'bot_indifferent' })
    const before = await target.openConnections()
    response[Symbol.dispose]()
    await expect.poll(() => target.openConnections()).toBeLessThan(before)
  })
})

test('an answer that is complete and never read does no harm', async () => {
  for (let times = 0; times < 3; times++) {
    using response = await request('/bytes/10')
    expect(response.status).toBe(200)
  }
  // A stream tells of its end in a later turn; an error that nobody catches fails this file.
  await setImmediate()
})

describe('time', () => {
  test('runs out while no answer comes', async () => {
    await expect(request('/held', { timeoutMilliseconds: 100 })).rejects.toMatchObject({ reason: 'timeout' })
  })

  test('runs out while the body does not go on', async () => {
    const response = await request('/started', { timeoutMilliseconds: 200 })
    await expect(text(response.body)).rejects.toMatchObject({ reason: 'timeout' })
  })

  test.each([
    ['the headers', 'HTTP/1.1 200 OK\r\nx-slow: '],
    ['interim answers', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(3)],
    ['the body', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'],
  ])('runs out while a server sends %s in drops', async (what, start) => {
    const drop = {
      'the headers': 'x',
      'interim answers': 'HTTP/1.1 103 Early Hints\r\n\r\n',
      'the body': '1\r\nx\r\n',
    }[what]!
    await using dripping = await startDripping(start, drop)
    await using own = openGuard([`127.0.0.1:${dripping.port}`])
    const url = `http://127.0.0.1:${dripping.port}/`
    await expect(own.ask(url, { timeoutMilliseconds: 500 })).rejects.toMatchObject({ reason: 'timeout' })
    expect(dripping.drops()).toBeGreaterThan(3)
    await expect.poll(() => dripping.openConnections()).toBe(0)
  })

  test('runs out while the name is being resolved', async () => {
    await using slow = openGuard([], { resolve: () => new Promise(() => {}) })
    const begun = performance.now()
    await expect(slow.ask('http://slow.example/', { timeoutMilliseconds: 100 })).rejects.toMatchObject({
      reason: 'timeout',
    })
    expect(performance.now() - begun).toBeLessThan(5000)
  })

  test('runs out for an answer that is never read, and does no harm', async () => {
    await request('/started', { tenant: 'bot_forgetful', timeoutMilliseconds: 300 })
    const before = await target.openConnections()
    await expect.poll(() => target.openConnections()).toBeLessThan(before)
  })
})

describe('a request is taken back', () => {
  test('before it begins', async () => {
    const before = target.connections()
    const early = request('/echo', { tenant: 'bot_early', signal: AbortSignal.abort() })
    await expect(early).rejects.toMatchObject({ reason: 'aborted' })
    await portFor('bot_late')
    expect(target.connections()).toBe(before + 1)
  })

  test('while it waits for its answer', async () => {
    const controller = new AbortController()
    const before = held.length
    const outcome = request('/held', { signal: controller.signal }).catch((error: unknown) => error)
    await expect.poll(() => held.length).toBeGreaterThan(before)
    controller.abort()
    expect(await outcome).toMatchObject({ reason: 'aborted' })
  })

  test('while its body is read', async () => {
    const controller = new AbortController()
    const response = await request('/started', { signal: controller.signal })
    const body = text(response.body)
    await setImmediate()
    controller.abort()
    await expect(body).rejects.toMatchObject({ reason: 'aborted' })
  })

  test('when the guard closes, which takes no further ones', async () => {
    const closing = openGuard([`127.0.0.1:${target.port}`])
    const before = held.length
    const outcome = closing.ask(`${target.url}/held`).catch((error: unknown) => error)
    await expect.poll(() => held.length).toBeGreaterThan(before)
    await closing.outbound.close()
    expect(await outcome).toMatchObject({ reason: 'aborted' })
    await expect(closing.ask(`${target.url}/echo`)).rejects.toMatchObject({ reason: 'aborted' })
  })
})

describe('connections', () => {
  test('are used again, but never by another tenant', async () => {
    const one = await portFor('bot_one')
    const used = new Set([one])
    // An answer's end is known a moment before its connection is free.
    await expect.poll(async () => used.add(await portFor('bot_one')) && portFor('bot_one')).toBe(one)
    for (let times = 0; times < 5; times++) expect(used).not.toContain(await portFor('bot_two'))
  })

  test('of one tenant to one origin are bounded, and what waits has its turn', async () => {
    const waiting: ServerResponse[] = []
    await using own = await startTarget((_request, response) => void waiting.push(response))
    await using bounded = openGuard([`127.0.0.1:${own.port}`])
    const answers = Promise.all(Array.from({ length: 40 }, () => bounded.ask(own.url)))
    answers.catch(() => {})
    await expect.poll(() => waiting.length, { timeout: 10_000 }).toBe(32)
    expect(await own.openConnections()).toBe(32)
    for (const response of waiting.splice(0)) response.end('done')
    await expect.poll(() => waiting.length, { timeout: 10_000 }).toBe(8)
    for (const response of waiting.splice(0)) response.end('done')
    expect(await answers).toHaveLength(40)
  })
})

test('an unreachable host is named as the caller wrote it, without its address', async () => {
  const dead = await startTarget(() => {})
  await dead[Symbol.asyncDispose]()
  await using own = openGuard(['127.0.0.1'], { resolve: async () => [{ address: '127.0.0.1', family: 4 }] })
  const error: unknown = await own.ask(`http://dead.example:${dead.port}/`).catch((reason: unknown) => reason)
  expect(error).toMatchObject({ reason: 'unreachable', message: expect.stringContaining('dead.example') })
  expect(String(error)).not.toContain('127.0.0.1')
})

test('a name without an address is called unresolvable', async () => {
  await using own = openGuard([], { resolve: async () => [] })
  await expect(own.ask('http://nowhere.example/')).rejects.toMatchObject({ reason: 'unresolvable' })
  await using failing = openGuard([], { resolve: () => Promise.reject(new Error('SERVFAIL at 10.0.0.53')) })
  await expect(failing.ask('http://nowhere.example/')).rejects.toMatchObject({ reason: 'unresolvable' })
})
