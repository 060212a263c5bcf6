import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { FetchAnswer, FetchFailure, FetchRequest, HostFetch, Json } from '#sandbox/protocol/contract.ts'
import { globalsOf, inertGlobals, refusedGlobals } from '#sandbox/prelude/groups.ts'
import { bot, botThat, callRun, done, logged, messageRun, openTestSandbox, type TestSandbox } from '../fixture.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await openTestSandbox()
})
afterAll(() => sandbox.close())

/** The result of a function with this body in a native bundle, through JSON. */
async function inside(body: string, fetch?: HostFetch): Promise<Json> {
  const bundle = bot(`exports.handler = async () => { ${body} }`)
  return done(await sandbox.run(callRun(bundle, {}, fetch && { fetch }))).result
}

type AsyncFunctionConstructor = new (...source: string[]) => () => Promise<unknown>
const AsyncFunction = (async () => {}).constructor as AsyncFunctionConstructor

/** Its result in Node. */
async function inNode(body: string): Promise<Json> {
  return JSON.parse(JSON.stringify(await new AsyncFunction(body)())) as Json
}

const answer: FetchAnswer = {
  status: 200,
  statusText: 'OK',
  url: 'https://a.example/',
  headers: [],
  body: 'hello',
  isBase64: false,
}

/** Answers each request so, and remembers it. */
function answering(...answers: (FetchAnswer | FetchFailure)[]): { fetch: HostFetch; requests: FetchRequest[] } {
  const requests: FetchRequest[] = []
  return {
    requests,
    fetch: async (request) => {
      requests.push(request)
      return answers[requests.length - 1] ?? answer
    },
  }
}

/** Keeps requests waiting until the test answers them. */
function patientFetch() {
  const asked: { request: FetchRequest; signal: AbortSignal; answer: () => void }[] = []
  onTestFinished(() => asked.forEach((one) => one.answer()))
  const fetch: HostFetch = (request, signal) =>
    new Promise((resolve) => asked.push({ request, signal, answer: () => resolve(answer) }))
  return { asked, fetch }
}

/** The names of the globals of a native bundle that mentions this. */
const globalNames = (mention: string) =>
  inside(`${mention}; return Object.getOwnPropertyNames((function () { return this })())`)

/** All that a native bundle finds which an isolate has not by itself. */
const webNames = Object.values(globalsOf).flat()
/** Those that `globalThis` mentions. */
const { compression: _compression, patterns: _patterns, ...common } = globalsOf
const commonNames = [...Object.values(common).flat(), ...refusedGlobals, ...inertGlobals]

describe('native bundles find the globals of the web', () => {
  test.each(webNames)('%s, which is there for naming it', async (name) => {
    expect(await inside(`return typeof ${name}`)).toMatch(/^(function|object)$/)
  })

  test('also by names that they compute', async () => {
    expect(await inside(`return typeof globalThis['fe' + 'tch']`)).toBe('function')
  })

  test.each([
    ['URL', globalsOf.web],
    ['ReadableStream', [...globalsOf.web, ...globalsOf.streams]],
    ['crypto.subtle', [...globalsOf.web, ...globalsOf.subtle]],
    ['Buffer', globalsOf.buffer],
    ['MessagePort', [...globalsOf.web, ...globalsOf.rare, ...refusedGlobals, ...inertGlobals]],
    ['globalThis', commonNames],
  ])('and no others: who mentions %s gets what goes with it', async (mention, names) => {
    const [without, found] = [(await globalNames('')) as string[], (await globalNames(mention)) as string[]]
    expect(found.filter((name) => !without.includes(name)).toSorted()).toEqual([...names].toSorted())
  })

  test('in the global object of workers, as packages for browsers look for them', async () => {
    const body = `const { AbortController } = typeof self === 'undefined' ? {} : self; return [new AbortController().signal.aborted, self === globalThis]`
    expect(await inside(body)).toEqual([false, true])
    expect(await inside(`return self.env === undefined`)).toBe(true)
  })

  test('while their module is loaded, too', async () => {
    const bundle = bot(`const base = new URL('https://a.example/b'); exports.handler = () => base.host`)
    expect(done(await sandbox.run(callRun(bundle))).result).toBe('a.example')
  })

  test('those of Node beside its modules: the environment has the secrets, and no token', async () => {
    const mention = `require('node:buffer')`
    expect(
      await inside(
        `return [typeof ${mention}.Buffer, __dirname, global === globalThis, typeof setImmediate, typeof self]`,
      ),
    ).toEqual(['function', '/', true, 'function', 'undefined'])
    const bundle = bot(`const { env } = require('process'); exports.hooks = { async afterIncomingMessage({ logger }) {
      logger.info(JSON.stringify(env)) } }`)
    const environment = { SECRET_KEY: 'k' }
    expect(logged(await sandbox.run(messageRun({ ...bundle, environment })))).toEqual([JSON.stringify(environment)])
  })

  test.each(['process', 'global', 'setImmediate', '__dirname'])('and nothing of Node: %s', async (expression) => {
    const body = `try { URL; return typeof ${expression} } catch { return 'undefined' }`
    expect(await inside(body)).toBe('undefined')
  })
})

describe('the globals of native bundles behave as in Node', () => {
  test.each([
    [
      'URLs',
      `const url = new URL('../ü?q=a b#f', 'HTTPS://user@Exämple.com:443/a/b/'); return [url.href, url.host, url.origin, URL.canParse('x:y')]`,
    ],
    [
      'queries',
      `const query = new URLSearchParams('a=1&b=x%20y&a=%C3%A9'); query.append('c', '&='); return [[...query], query.getAll('a'), String(query)]`,
    ],
    [
      'UTF-8',
      `return [[...new TextEncoder().encode('aé€😀')], new TextDecoder().decode(Uint8Array.of(226, 130, 172, 255))]`,
    ],
    [
      'long texts',
      `const text = 'x' + '😀'.repeat(40_000) + '\\ud800' + 'é'.repeat(40_000); const bytes = new TextEncoder().encode(text); let sum = 0; for (const byte of bytes) sum = (sum * 31 + byte) % 1e9; return [bytes.length, sum]`,
    ],
    ['base64', `return [btoa('h\\xe9'), atob('aOk=')]`],
    [
      'copies',
      `const map = new Map([[1, { a: new Date(0) }]]); const copy = structuredClone(map); return [copy.get(1).a.getTime(), copy.get(1) !== map.get(1)]`,
    ],
    ['copies of functions', `try { structuredClone(() => {}) } catch (error) { return error.name }`],
    [
      'exceptions',
      `const error = new DOMException('no', 'AbortError'); return [error.name, error.code, error.message, error instanceof Error]`,
    ],
    [
      'headers',
      `const headers = new Headers({ B: '2', a: ' 1 ' }); headers.append('b', '3'); headers.append('set-cookie', 'x'); headers.append('set-cookie', 'y'); return [...headers]`,
    ],
    [
      'headers that change while they are read',
      `const headers = new Headers({ a: '1', c: '3' }); const read = []; for (const entry of headers) { read.push([...entry]); entry[1] = 'x'; if (entry[0] === 'a') { headers.set('b', '2'); headers.append('d', '4') } if (entry[0] === 'b') headers.delete('c') } return [read, [...headers]]`,
    ],
    [
      'headers that are none',
      `return ['a b', 'a\\n', ''].map((name) => { try { new Headers([[name, '1']]) } catch (error) { return error.name } })`,
    ],
    [
      'answers',
      `const response = new Response('{"a":1}', { status: 201, headers: { 'x-a': '1' } }); const copy = response.clone(); return [response.ok, response.status, await response.json(), response.bodyUsed, await copy.text(), copy.headers.get('content-type')]`,
    ],
    [
      'answers read twice',
      `const response = new Response('x'); await response.text(); try { await response.text() } catch (error) { return error.name }`,
    ],
    [
      'answers with a byte order mark',
      `return [await new Response('\\uFEFFx').text(), (await new Response('\\uFEFFx').arrayBuffer()).byteLength]`,
    ],
    [
      'JSON answers',
      `const response = Response.json([1], { status: 404 }); return [response.ok, response.headers.get('content-type'), await response.json()]`,
    ],
    [
      'requests',
      `const request = new Request('https://a.example/b#c', { method: 'post', body: new URLSearchParams({ a: '1' }) }); return [request.method, request.url, request.redirect, request.headers.get('content-type'), await request.text()]`,
    ],
    [
      'requests with a body that may have none',
      `try { new Request('https://a.example', { body: 'x' }) } catch (error) { return error.name }`,
    ],
    [
      'methods that are none',
      `return ['TRACE', 'a b', 'x\\r\\n'].map((method) => { try { new Request('https://a.example', { method }) } catch (error) { return error.name } })`,
    ],
    [
      'signals',
      `const controller = new AbortController(); const heard = []; controller.signal.addEventListener('abort', (event) => heard.push(event.type)); controller.abort(); controller.abort(); return [heard, controller.signal.aborted, controller.signal.reason.name]`,
    ],
    [
      'signals of several',
      `const one = new AbortController(); const any = AbortSignal.any([one.signal, AbortSignal.timeout(10_000)]); one.abort('why'); return [any.aborted, any.reason]`,
    ],
    [
      'signals of time',
      `const signal = AbortSignal.timeout(5); await new Promise((resolve) => signal.addEventListener('abort', resolve)); return signal.reason.name`,
    ],
    [
      'events',
      `const target = new EventTarget(); const heard = []; target.addEventListener('a', (event) => heard.push([event.type, event.target === target]), { once: true }); target.dispatchEvent(new Event('a')); target.dispatchEvent(new Event('a')); return heard`,
    ],
    [
      'random bytes',
      `const bytes = crypto.getRandomValues(new Uint8Array(64)); return [bytes.length, bytes.some((byte) => byte > 0), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())]`,
    ],
    ['a clock', `const start = performance.now(); return [start >= 0, performance.now() >= start]`],
  ])('%s', async (_what, body) => {
    expect(await inside(body)).toEqual(await inNode(body))
  })

  test('and random numbers are others in each isolate', async () => {
    const [one, other] = [await inside('return crypto.randomUUID()'), await inside('return crypto.randomUUID()')]
    expect(one).not.toBe(other)
  })
})

describe('a request to the world outside', () => {
  test('crosses as it is, and its answer as it came', async () => {
    const { fetch, requests } = answering({
      status: 418,
      statusText: 'Teapot',
      url: 'https://b.example/end',
      headers: [
        ['x-a', '1'],
        ['set-cookie', 'a=1'],
        ['set-cookie', 'b=2'],
      ],
      body: Buffer.from([0, 255]).toString('base64'),
      isBase64: true,
    })
    const body = `
      const response = await fetch('https://a.example/b?c=1#d', { method: 'put', body: Uint8Array.of(1, 2, 255), headers: { 'X-Mine': '1' }, redirect: 'manual' })
      const { status, statusText, ok, url, redirected, type } = response.clone()
      return [status, statusText, ok, url, redirected, type, [...response.headers], [...await response.bytes()]]`
    expect(await inside(body, fetch)).toEqual([
      418,
      'Teapot',
      false,
      'https://b.example/end',
      true,
      'basic',
      [
        ['set-cookie', 'a=1'],
        ['set-cookie', 'b=2'],
        ['x-a', '1'],
      ],
      [0, 255],
    ])
    expect(requests).toEqual([
      {
        method: 'PUT',
        url: 'https://a.example/b?c=1',
        headers: { 'x-mine': '1' },
        redirect: 'manual',
        body: 'AQL/',
        isBase64: true,
        streams: true,
      },
    ])
  })

  test.each([
    ['text', { body: 'x'.repeat(10 * 1024 * 1024), isBase64: false }],
    ['bytes', { body: Buffer.alloc(10 * 1024 * 1024, 200).toString('base64'), isBase64: true }],
  ])('may bring the largest answer that there is into a heap of 64 MB: %s', async (_what, content) => {
    const { fetch } = answering({ ...answer, ...content })
    const bundle = bot(
      `exports.handler = async () => (await (await fetch('https://a.example')).arrayBuffer()).byteLength`,
    )
    const run = callRun(bundle, {}, { fetch, limits: { cpuMilliseconds: 10_000 } })
    expect(done(await sandbox.run(run)).result).toBe(10 * 1024 * 1024)
  })

  test('that fails is a TypeError that says why, also to programs', async () => {
    const { fetch } = answering({ failure: 'timeout', message: 'a.example was slow' })
    const body = `return fetch('https://a.example').catch((error) => [error instanceof TypeError, error.message, error.cause.code])`
    expect(await inside(body, fetch)).toEqual([true, 'fetch failed: a.example was slow', 'timeout'])
  })

  test('is made for as many at once as are allowed, the others in their turn', async () => {
    const { asked, fetch } = patientFetch()
    const body = `return (await Promise.all([1, 2, 3, 4].map((n) => fetch('https://a.example/' + n)))).length`
    const outcome = inside(body, fetch)
    const paths = () => asked.map(({ request }) => new URL(request.url).pathname)
    await expect.poll(paths).toEqual(['/1', '/2'])
    asked[1]!.answer()
    await expect.poll(paths).toEqual(['/1', '/2', '/3'])
    asked[0]!.answer()
    await expect.poll(paths).toEqual(['/1', '/2', '/3', '/4'])
    asked.forEach((one) => one.answer())
    expect(await outcome).toBe(4)
  })

  test('beyond the number of a run fails it by the name of that limit', async () => {
    const { fetch, requests } = answering()
    const run = callRun(
      bot(`exports.handler = async () => { for (;;) await fetch('https://a.example') }`),
      {},
      { fetch },
    )
    expect(await sandbox.run(run)).toMatchObject({
      status: 'failed',
      reason: 'network',
      error: { name: 'NetworkLimitError' },
    })
    expect(requests).toHaveLength(5)
  })

  test('that the host counts as one too many fails the run likewise', async () => {
    const { fetch } = answering({ failure: 'limit', message: 'An event may make at most 50 requests' })
    const run = callRun(bot(`exports.handler = () => fetch('https://a.example')`), {}, { fetch })
    expect(await sandbox.run(run)).toMatchObject({
      status: 'failed',
      reason: 'network',
      error: { message: 'An event may make at most 50 requests' },
    })
  })

  test('that is larger than may cross is a TypeError, and no limit', async () => {
    const body = `return fetch('https://a.example', { headers: { x: 'x'.repeat(200_000) } }).catch((error) => error.name)`
    expect(await inside(body, answering().fetch)).toBe('TypeError')
  })

  test('that is aborted is taken back outside, and makes room for the next', async () => {
    const { asked, fetch } = patientFetch()
    const body = `
      const controller = new AbortController()
      const { signal } = controller
      const first = [1, 2].map((n) => fetch('https://a.example/' + n, { signal }).catch((error) => error.name))
      setTimeout(() => controller.abort(), 20)
      const next = fetch('https://a.example/3')
      return [...await Promise.all(first), await (await next).text()]`
    const outcome = inside(body, fetch)
    await expect.poll(() => asked.length).toBe(3)
    expect(asked.map(({ signal }) => signal.aborted)).toEqual([true, true, false])
    asked[2]!.answer()
    expect(await outcome).toEqual(['AbortError', 'AbortError', 'hello'])
  })

  test('that is aborted before it is made never crosses', async () => {
    const { fetch, requests } = answering()
    const body = `return fetch('https://a.example', { signal: AbortSignal.abort('early') }).catch((reason) => reason)`
    expect(await inside(body, fetch)).toBe('early')
    expect(requests).toEqual([])
  })

  test('is waited for at the end of a run, and taken back when the run fails', async () => {
    const waited = answering()
    await inside(`void fetch('https://a.example/1').then(() => fetch('https://a.example/2'))`, waited.fetch)
    expect(waited.requests.map(({ url }) => url)).toEqual(['https://a.example/1', 'https://a.example/2'])

    const { asked, fetch } = patientFetch()
    const failing = bot(`exports.handler = async () => { void fetch('https://a.example'); await client.none() }`)
    const outcome = await sandbox.run(callRun(failing, {}, { fetch }))
    expect(logged(outcome)).toEqual([expect.stringMatching(/^fetch GET a\.example\/ failed: aborted/)])
    expect(asked.map(({ signal }) => signal.aborted)).toEqual([true])
  })

  test('has its stream read as the host reads it, for the run that asked', async () => {
    let read = ''
    const fetch: HostFetch = async ({ content }) => {
      for await (const part of content!.parts) read += `${Buffer.from(part).toString()},`
      return answer
    }
    const body = `
      const parts = ['ab', 'c']
      const stream = new ReadableStream({
        async pull(controller) {
          await new Promise((resolve) => setTimeout(resolve, 1))
          const part = parts.shift()
          if (part === undefined) controller.close(); else controller.enqueue(new TextEncoder().encode(part))
        }
      })
      return (await fetch('https://a.example', { method: 'POST', body: stream, duplex: 'half' })).status`
    expect(await inside(body, fetch)).toBe(200)
    expect(read).toBe('ab,c,')
  })

  test('can not be made while the module is loaded', async () => {
    const bundle = bot(
      `const early = fetch('https://a.example').catch((error) => error.message); exports.handler = () => early`,
    )
    expect(done(await sandbox.run(callRun(bundle, {}, { fetch: answering().fetch }))).result).toMatch(
      /while the module loads/,
    )
  })

  test('is one line of the log, without query, secrets and signatures of files', async () => {
    const { fetch } = answering(answer, { failure: 'forbidden', message: 'no' })
    const bundle = {
      ...bot(`exports.handler = async ({ env }) => {
        await fetch('https://a.example:81/' + env.SECRET_KEY + '?q=hush')
        await fetch('https://b.example/').catch(() => {})
        await fetch('https://c.example/files/c.aGVsbG8.c2ln/note.txt').catch(() => {})
        await fetch('https://c.example/files/upload/u.aGVsbG8.c2ln', { method: 'PUT' }).catch(() => {})
        await fetch('https://c.example/files/u2/note.txt').catch(() => {})
      }`),
      environment: { SECRET_KEY: 'hush-hush' },
    }
    expect(logged(await sandbox.run(callRun(bundle, {}, { fetch })))).toEqual([
      expect.stringMatching(/^fetch GET a\.example:81\/\*\*\* 200, \d+ ms$/),
      expect.stringMatching(/^fetch GET b\.example\/ failed: forbidden, \d+ ms$/),
      expect.stringMatching(/^fetch GET c\.example\/files\/c\.\*\*\*\/note\.txt /),
      expect.stringMatching(/^fetch PUT c\.example\/files\/upload\/u\.\*\*\* /),
      expect.stringMatching(/^fetch GET c\.example\/files\/u2\/note\.txt /),
    ])
  })

  test('whose host function rejects fails alone', async () => {
    const body = `return fetch('https://a.example').catch((error) => error.message)`
    expect(await inside(body, () => Promise.reject(new Error('/host/path')))).toBe(
      'fetch failed: The platform could not send the request',
    )
  })
})

describe('the kernel', () => {
  test('makes requests as before when bot code has replaced all that it uses itself', async () => {
    const { fetch, requests } = answering()
    const body = `
      const own = fetch
      for (const key of ['parse', 'stringify']) JSON[key] = () => ({ failure: 'limit', message: 'forged' })
      for (const proto of [Object.prototype, Array.prototype]) {
        for (const key of ['failure', 'resolve', 'reject', 'isOver', 'name', '0']) {
          Object.defineProperty(proto, key, { get() { return 'limit' }, set() {}, configurable: true })
        }
      }
      Object.hasOwn = () => true
      globalThis.Promise = undefined
      globalThis.TypeError = undefined
      void own('https://a.example').catch(() => {})
      throw 'over'`
    const outcome = await sandbox.run(messageRun(botThat(body), { fetch }))
    expect(outcome).toMatchObject({ status: 'failed', reason: 'error', error: { message: 'over' } })
    expect(requests.length).toBeLessThanOrEqual(1)
    const second = await sandbox.run(
      messageRun(botThat(`console.log((await fetch('https://a.example')).status)`), { fetch }),
    )
    expect(logged(second)).toContain('200')
  })

  test('can not be given another answer by code that replaces JSON.parse', async () => {
    const body = `
      JSON.parse = () => ({ status: 299, url: 'https://forged.example', headers: [] })
      const response = await fetch('https://a.example/')
      return [response.status, response.url]`
    expect(await inside(body, answering().fetch)).toEqual([200, 'https://a.example/'])
  })
})

describe('nothing of the host is reachable', () => {
  test('through the constructors of what the web gives', async () => {
    const body = `
      const response = await fetch('https://a.example')
      const failed = await fetch('https://b.example').catch((error) => error)
      const all = [fetch, response, response.headers, failed, failed.cause, URL, crypto, crypto.getRandomValues, performance, new AbortController().signal, structuredClone, atob]
      const found = []
      for (const value of all) {
        for (let at = value; at !== null && at !== undefined; at = Object.getPrototypeOf(at)) {
          for (const key of Reflect.ownKeys(at)) {
            let inner
            try { inner = at[key] } catch { continue }
            const make = inner?.constructor?.constructor
            if (typeof make !== 'function') continue
            try { found.push(make('return [typeof process, typeof require, typeof ivm].join()')()) } catch {}
          }
        }
      }
      return [found.length > 50, [...new Set(found)]]`
    const { fetch } = answering(answer, { failure: 'forbidden', message: 'no' })
    expect(await inside(body, fetch)).toEqual([true, ['undefined,undefined,undefined']])
  })

  test('through the stack of an error', async () => {
    const body = `const error = await fetch('https://a.example').catch((error) => error); return error.stack + error.cause.stack`
    const { fetch } = answering({ failure: 'forbidden', message: 'no' })
    expect(await inside(body, fetch)).not.toMatch(/\/work|node_modules|node:/)
  })
})
