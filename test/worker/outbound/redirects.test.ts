import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { namesAt, openGuard, startTarget, usual, type Guard, type Target } from './fixture.ts'

let first: Target
let second: Target
let closed: Target
let guard: Guard

/** `/status/302?to=…` redirects there, `/times/3` redirects three times, and anything else tells what it was asked. */
async function startRedirecting(): Promise<Target> {
  return startTarget(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://target')
    const [, kind, number] = pathname.split('/')
    if (kind === 'times') {
      response.writeHead(302, { location: Number(number) > 1 ? `/times/${Number(number) - 1}` : '/end' }).end()
    } else if (kind === 'status') {
      response.writeHead(Number(number), { location: searchParams.get('to') ?? '' }).end('elsewhere')
    } else {
      response.end(JSON.stringify({ method: request.method, headers: request.headers, body: await text(request) }))
    }
  })
}

beforeAll(async () => {
  first = await startRedirecting()
  second = await startRedirecting()
  closed = await startTarget((_request, response) => response.end('closed'))
  guard = openGuard([`127.0.0.1:${first.port}`, `127.0.0.1:${second.port}`], {
    resolve: namesAt({
      'first.example': ['127.0.0.1'],
      'second.example': ['127.0.0.1'],
      'innocent.example': ['10.0.0.1'],
    }),
  })
})
afterAll(async () => {
  await guard[Symbol.asyncDispose]()
  for (const target of [first, second, closed]) await target[Symbol.asyncDispose]()
})
beforeEach(() => {
  first.requests.length = 0
})

function redirectTo(location: string, status = 302): string {
  return `${first.url}/status/${status}?to=${encodeURIComponent(location)}`
}

/** The request that the server at the end of the redirects has received. */
interface Observed {
  method: string
  headers: Record<string, string>
  body: string
}

const secrets = {
  authorization: 'Bearer secret',
  cookie: 'session=secret',
  'X-Secret-Key': 'secret',
  'Private-Token': 'secret',
}

describe('redirects', () => {
  test('are followed three times, and the answer says whose it is', async () => {
    expect(await guard.ask(`${first.url}/times/3`)).toMatchObject({ status: 200, url: `${first.url}/end` })
    await expect(guard.ask(`${first.url}/times/4`)).rejects.toMatchObject({ reason: 'too-many-redirects' })
    expect(first.requests.filter((request) => request === 'GET /end')).toHaveLength(1)
  })

  test('are followed as often as is said', async () => {
    expect(await guard.ask(`${first.url}/times/5`, { maxRedirects: 5 })).toMatchObject({ status: 200 })
    await expect(guard.ask(`${first.url}/times/2`, { maxRedirects: 1 })).rejects.toMatchObject({
      reason: 'too-many-redirects',
    })
  })

  test('are an answer to those who follow none', async () => {
    using response = await guard.outbound.request({ ...usual, url: redirectTo(closed.url), maxRedirects: 0 })
    expect(response).toMatchObject({ status: 302, headers: { location: closed.url } })
    expect(await text(response.body)).toBe('elsewhere')
  })

  test('in an endless circle end', async () => {
    const there = `${second.url}/status/302?to=`
    const url = redirectTo(`${there}${encodeURIComponent(redirectTo(`${there}${first.url}`))}`)
    await expect(guard.ask(url, { maxRedirects: 2 })).rejects.toMatchObject({ reason: 'too-many-redirects' })
  })

  test.each([
    ['a private address', () => `http://10.0.0.1/`],
    ['this machine', () => closed.url],
    ['this machine in another spelling', () => `//2130706433:${closed.port}/`],
    ['the metadata of a cloud', () => 'http://169.254.169.254/latest/meta-data/'],
    ['a name with a private address', () => 'http://innocent.example/'],
    ['a file', () => 'file:///etc/passwd'],
    ['a URL with a password', () => second.url.replace('://', '://user:password@')],
    ['an unusual port', () => 'http://1.1.1.1:8081/'],
  ])('to %s are refused', async (_what, location) => {
    await expect(guard.ask(redirectTo(location()))).rejects.toMatchObject({ reason: 'forbidden' })
    expect(closed.connections()).toBe(0)
  })

  test("leave the caller's list as little as the request itself may", async () => {
    const allow = ['first.example']
    const url = `http://first.example:${first.port}/status/302?to=http://`
    expect(await guard.ask(`${url}first.example:${first.port}/`, { allow })).toMatchObject({ status: 200 })
    await expect(guard.ask(`${url}second.example:${first.port}/`, { allow })).rejects.toMatchObject({
      reason: 'forbidden',
    })
  })

  test('to what is no URL are called invalid', async () => {
    await expect(guard.ask(redirectTo('http://'))).rejects.toMatchObject({ reason: 'invalid' })
  })
})

describe('a redirect to another origin', () => {
  test.each([
    ['another port', () => second.url],
    ['another name of the same server', () => `http://second.example:${first.port}`],
  ])('at %s takes no secrets along', async (_what, origin) => {
    const headers = { ...secrets, 'Content-Type': 'application/json', Accept: 'text/html' }
    const url = redirectTo(`${origin()}/end`, 307)
    const { text: told } = await guard.ask(url, { method: 'POST', headers, body: '{}' })
    expect(told).not.toContain('secret')
    expect(JSON.parse(told)).toMatchObject({
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/html' },
      body: '{}',
    })
  })

  test('and back takes no secrets along either', async () => {
    const url = redirectTo(`${second.url}/status/302?to=${first.url}/end`)
    expect((await guard.ask(url, { headers: secrets })).text).not.toContain('secret')
  })
})

test('a redirect within an origin keeps all headers', async () => {
  const told = JSON.parse((await guard.ask(redirectTo('/end'), { headers: secrets })).text) as Observed
  expect(told.headers).toMatchObject({ authorization: 'Bearer secret', 'x-secret-key': 'secret' })
})

test.each([
  [301, 'POST', 'GET'],
  [302, 'POST', 'GET'],
  [303, 'POST', 'GET'],
  [303, 'PUT', 'GET'],
  [301, 'PUT', 'PUT'],
  [302, 'DELETE', 'DELETE'],
  [307, 'POST', 'POST'],
  [308, 'POST', 'POST'],
] as const)('after %i a %s becomes a %s', async (status, method, next) => {
  const body = '{"a":1}'
  const headers = { 'content-type': 'application/json' }
  const told = JSON.parse((await guard.ask(redirectTo('/end', status), { method, headers, body })).text) as Observed
  expect(told.method).toBe(next)
  expect(told.body).toBe(next === 'GET' ? '' : body)
  expect(told.headers['content-type']).toBe(next === 'GET' ? undefined : 'application/json')
})

test.each(['HEAD', 'GET'] as const)('after 303 a %s remains one', async (method) => {
  await guard.ask(redirectTo('/end', 303), { method })
  expect(first.requests).toContain(`${method} /end`)
})
