import { buffer } from 'node:stream/consumers'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callRun, done, handlerThat, sdkBot } from '../fixture.ts'
import { sandboxOfFile } from '../prelude/compare.ts'
import { openGuardedFetch, type GuardedFetch } from './guarded-fetch.ts'

const sandbox = sandboxOfFile()
const limits = { fetches: 100, memoryMegabytes: 128, cpuMilliseconds: 10_000 }
let guarded: GuardedFetch
let granted: GuardedFetch
let url: string
let code: string

/** The answers of requests with `dispatcher`, whose default is that of the isolate. */
const source = `
  import { Readable } from 'node:stream'
  import { Agent, FormData, Pool, fetch, request } from 'undici'
  export async function handler({ body }) {
    const { url, kind } = JSON.parse(body)
    const dispatcher = { none: undefined, agent: new Agent(), pool: new Pool(url) }[kind]
    const given = dispatcher && { dispatcher }
    const told = {}
    const form = new FormData()
    form.append('name', 'é')
    told.form = await (await fetch(url + '/form', { method: 'POST', body: form, ...given })).text()
    told.post = await (await request(url + '/echo', { method: 'POST', body: Readable.from(['one ', 'two']), headers: ['x-a', 'b'], ...given })).body.text()
    told.slashes = await (await request({ origin: url, path: '//example.com/path', method: 'GET', ...given })).body.text()
    told.query = await (await request(url + '/path', { query: { a: 1 }, ...given })).body.text()
    const redirected = await fetch(url + '/redirect', given)
    told.redirect = [redirected.status, redirected.redirected, await redirected.text()]
    told.big = (await (await fetch(url + '/big', given)).arrayBuffer()).byteLength
    told.empty = [(await request(url + '/204', given)).statusCode, (await request(url + '/path', { method: 'HEAD', ...given })).statusCode]
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 30)
    told.aborted = await fetch(url + '/slow', { signal: controller.signal, ...given }).catch((error) => error.name)
    return { body: JSON.stringify(told) }
  }`

beforeAll(async () => {
  guarded = await openGuardedFetch()
  url = await guarded.serve(async (request, response) => {
    const path = request.url!.split('?')[0]!
    const sent = await buffer(request)
    if (path === '/slow') return
    if (path === '/redirect') response.writeHead(302, { location: '/path?b=2' }).end()
    else if (path === '/204') response.writeHead(204).end()
    else if (path === '/big') {
      for (let part = 0; part < 20; part += 1) response.write(Buffer.alloc(100_000, part))
      response.end()
    } else if (path === '/form')
      response.end(String(sent).includes('name="name"\r\n\r\né\r\n') ? 'a form' : String(sent))
    else if (path === '/echo') response.end(`${String(request.headers['x-a'])} ${String(sent)}`)
    else response.end(request.url)
  })
  granted = await openGuardedFetch({
    SANDBOX_NET: `127.0.0.1,${new URL(url).host}`,
    OUTBOUND_CONNECT: new URL(url).host,
  })
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    target: 'es2024',
  })
  code = outputFiles[0]!.text
}, 60_000)
afterAll(async () => {
  await guarded[Symbol.asyncDispose]()
  await granted[Symbol.asyncDispose]()
})

async function ask(kind: string, fetch: GuardedFetch['fetch']): Promise<unknown> {
  const argument = { body: JSON.stringify({ url, kind }) }
  const { result } = done(await sandbox().run(callRun(sdkBot(code), { argument }, { fetch, limits })))
  return JSON.parse((result as { body: string }).body)
}

const expected = {
  form: 'a form',
  post: 'b one two',
  slashes: '//example.com/path',
  query: '/path?a=1',
  redirect: [200, true, '/path?b=2'],
  big: 2_000_000,
  empty: [204, 200],
  aborted: 'AbortError',
}

describe('undici in a bundle', () => {
  test('sends requests as fetch does, without a grant of connections', async () => {
    expect(await ask('none', guarded.fetch)).toEqual(expected)
  })

  test.each(['agent', 'pool'])('opens connections of its own for an %s, where they are granted', async (kind) => {
    expect(await ask(kind, granted.fetch)).toEqual(expected)
  })

  test('names the list in which a host is missing to which an agent connects', async () => {
    await expect(ask('agent', guarded.fetch)).rejects.toThrow(
      /is not among the hosts|OUTBOUND_CONNECT|permissions\.net/,
    )
  })
})

test('a package that leaves undici out of its bundle gets the fetch of the platform', async () => {
  const body = `const load = (name) => process.getBuiltinModule(name)
    const { Agent, fetch } = load('node:module').createRequire('/bot.js')('undici')
    const dispatcher = new Agent({ connect: { lookup() {} } })
    const response = await fetch('${url}/path', { dispatcher })
    return { body: await response.text() + ' ' + typeof dispatcher.dispatch }`
  const { result } = done(await sandbox().run(callRun(handlerThat(body), {}, { fetch: guarded.fetch, limits })))
  expect(result).toMatchObject({ body: '/path function' })
})

test('process.getBuiltinModule gives modules that the bundle names in a call', async () => {
  const body = `const found = [process.getBuiltinModule('path').join('a', 'b'), process.getBuiltinModule?.('node:querystring').stringify({ a: 1 })]
    return { body: JSON.stringify([...found, process.getBuiltinModule('no-such') === undefined]) }`
  const { result } = done(await sandbox().run(callRun(handlerThat(body))))
  expect(result).toMatchObject({ body: '["a/b","a=1",true]' })
})
