import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Bundle, HostCall, Json } from '#sandbox/protocol/contract.ts'
import { replaceImports } from '#sandbox/compiler/process/replace-imports.ts'
import { nodeModuleNames } from '#sandbox/modules/table.ts'
import {
  callRun,
  done,
  handlerThat,
  ok,
  openTestSandbox,
  patientHost,
  platformUrl,
  sdkBot,
  type TestSandbox,
} from '../fixture.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await openTestSandbox()
})
afterAll(() => sandbox.close())

/** The body of the handler's answer, as JSON. */
async function told(bundle: Bundle): Promise<Json> {
  const { result } = done(await sandbox.run(callRun(bundle)))
  return JSON.parse((result as { body: string }).body) as Json
}

const telling = (body: string) => `const tell = (value) => ({ body: JSON.stringify(value) }); ${body}`

describe('globals of Node that an isolate does not have', () => {
  test.each([
    ['ending the process', `process.exit(0)`, /process\.exit is not available here/],
    ['signals', `process.kill(1)`, /process\.kill is not available here/],
    ['internals', `process.binding('fs')`, /process\.binding is not available/],
    ['datagrams', `require('dgram').createSocket('udp4')`, /dgram\.createSocket is not available here.*use fetch/],
    ['servers of TLS', `require('node:tls').createServer()`, /tls\.createServer is not available/],
    ['servers', `require('http').createServer().listen(80)`, /http\.createServer is not available/],
    ['files', `require('fs').readFileSync('/etc/passwd')`, /no such file.*isolates have no files/],
    ['writing files', `require('fs').writeFileSync('/tmp/x', '')`, /fs\.writeFileSync is not available/],
    ['native modules', `require('./build/Release/sharp.node')`, /Cannot find module '\.\/build\/Release\/sharp\.node'/],
    ['processes', `require('child_process').spawn('ls')`, /child_process\.spawn is not available/],
    ['threads', `new (require('node:worker_threads').Worker)('x')`, /worker_threads\.Worker is not available/],
    ['modules by computed names', `const name = 'pa' + 'th'; require(name)`, /names in a call, such as require/],
    [
      'files by import',
      `(await import('node:fs')).readFileSync('/etc/passwd')`,
      /no such file.*isolates have no files/,
    ],
    ['other modules by import', `await import('sharp')`, /Cannot find module 'sharp'/],
    ['modules by an import with a computed name', `await import(['f', 's'].join(''))`, /Not supported/],
  ])('is refused in clear words: %s', async (_what, body, words) => {
    expect(await sandbox.run(callRun(handlerThat(replaceImports(body))))).toMatchObject({
      status: 'failed',
      reason: 'error',
      error: { message: expect.stringMatching(words) },
    })
  })

  test('can be missed: a module that is not there says so with its code, for those who ask in vain on purpose', async () => {
    const body = telling(`try { require('supports-color') } catch (error) { return tell(error.code) }`)
    expect(await told(handlerThat(body))).toBe('MODULE_NOT_FOUND')
  })
})

describe('the world outside', () => {
  test.each([
    ['another host', `'https://example.com/x'`, 'example.com'],
    ['another port of the platform', `'${platformUrl}:8443/v1'`, 'api.isobot.internal:8443'],
    ['the platform without encryption', `'http://api.isobot.internal/v1'`, 'api.isobot.internal'],
    ['a host whose name begins like the platform', `'${platformUrl}.example.com/'`, 'api.isobot.internal.example.com'],
  ])('is out of reach of fetch, which names it: %s', async (_what, url, host) => {
    const calls: HostCall[] = []
    const run = callRun(
      handlerThat(`await fetch(${url})`),
      {},
      {
        host: async (call) => {
          calls.push(call)
          return ok({})
        },
      },
    )
    expect(await sandbox.run(run)).toMatchObject({
      status: 'failed',
      error: { name: 'TypeError', message: expect.stringContaining(`${host} cannot be requested`) },
    })
    expect(calls).toEqual([])
  })

  test('is not asked with a name and password in its URL, as nothing is', async () => {
    expect(await sandbox.run(callRun(handlerThat(`await fetch('${platformUrl}@example.com/')`)))).toMatchObject({
      status: 'failed',
      error: { name: 'TypeError', message: expect.stringContaining('must not contain a user or password') },
    })
  })

  test('is the host also where the environment names no address: no request leaves', async () => {
    const asked: HostCall[] = []
    const host = async (call: HostCall) => {
      asked.push(call)
      return ok({})
    }
    const bundle: Bundle = { ...handlerThat(`await fetch('${platformUrl}/v1')`), environment: {} }
    const outcome = await sandbox.run(callRun(bundle, {}, { host, fetch: async () => expect.fail('A request left') }))
    expect(outcome.status).toBe('done')
    expect(asked).toEqual([{ method: 'GET', path: '/v1' }])
  })
})

describe('nothing leads out of the isolate', () => {
  test('not the constructors of anything that bundles are given', async () => {
    const body = telling(`
      const seen = new Set()
      const made = []
      const walk = (value, path, depth) => {
        if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) return
        seen.add(value)
        for (const make of [value.constructor?.constructor, value.constructor, Object.getPrototypeOf(value)?.constructor]) {
          try {
            const from = make('return globalThis')
            if (typeof from === 'function') made.push([path, from()])
          } catch {}
        }
        if (depth === 0) return
        for (const name of Reflect.ownKeys(value)) {
          let inner
          try { inner = value[name] } catch { continue }
          walk(inner, path + '.' + String(name), depth - 1)
        }
        walk(Object.getPrototypeOf(value), path + '.__proto__', depth - 1)
      }
      walk(globalThis, 'globalThis', 6)
      for (const module of [${nodeModuleNames.map((name) => `require('${name}')`).join(',')}]) walk(module, 'module', 6)
      walk(require, 'require', 6)
      walk(await fetch('${platformUrl}/'), 'response', 6)
      try { await fetch('https://example.com') } catch (error) { walk(error, 'error', 6) }
      try { process.exit() } catch (error) { walk(error, 'error', 6) }
      const outside = []
      for (const [path, given] of made) {
        let found = await given
        if (typeof found?.next === 'function') found = (await found.next()).value
        if (found?.globalThis !== undefined && found !== globalThis) outside.push(path)
      }
      return tell({ outside, walked: seen.size, made: made.length })`)
    expect(await told(handlerThat(body))).toEqual({ outside: [], walked: expect.any(Number), made: expect.any(Number) })
  })

  test('not through the one process that there is', async () => {
    const body = telling(`
      const mine = Function('return process')()
      return tell([mine === process, 'mainModule' in mine, mine.env.PATH, mine.env.HOME, Object.keys(mine.env)])`)
    expect(await told(handlerThat(body))).toEqual([true, false, null, null, ['BP_API_URL', 'BP_TOKEN']])
  })
})

describe('two bundles', () => {
  test('do not see each other’s environment, nor what the other did to its own', async () => {
    const code = `exports.handler = async () => {
      const before = process.env.SECRET_KEY
      process.env.SECRET_KEY = 'changed by ' + before
      Object.prototype.leaked = globalThis.leaked = before
      return { body: JSON.stringify([before, Object.keys(process.env).sort()]) } }`
    const first = sdkBot(code, { SECRET_KEY: 'first', SECRET_OTHER: 'x' })
    const second = { ...sdkBot(code, { SECRET_KEY: 'second' }), botId: first.botId }
    expect(await told(first)).toEqual(['first', ['BP_API_URL', 'BP_TOKEN', 'SECRET_KEY', 'SECRET_OTHER']])
    expect(await told(second)).toEqual(['second', ['BP_API_URL', 'BP_TOKEN', 'SECRET_KEY']])
  })

  test('have random numbers of their own', async () => {
    const code = `exports.handler = async () => ({ body: JSON.stringify(crypto.randomUUID()) })`
    const numbers = [await told(sdkBot(code)), await told(sdkBot(code)), await told(sdkBot(code))]
    expect(new Set(numbers).size).toBe(3)
  })
})

describe('a bundle that tampers with what it was given', () => {
  const poison = `throw new Error('tampered')`

  test.each([
    ['Array.prototype', `for (const name of ['push', 'map', 'join']) Array.prototype[name] = () => { ${poison} }`],
    ['JSON', `JSON.parse = JSON.stringify = () => { ${poison} }`],
    ['Promise', `Promise.prototype.then = Promise.resolve = () => { ${poison} }`],
    ['Headers', `Headers.prototype.get = Headers.prototype.set = () => { ${poison} }`],
    ['fetch and what it is made of', `globalThis.fetch = globalThis.Request = globalThis.URL = undefined`],
    ['process', `globalThis.process = globalThis.Buffer = undefined`],
    ['its environment', `Object.defineProperty(process.env, 'BP_TOKEN', { get() { ${poison} } })`],
    ['Object.prototype', `Object.prototype.status = 999; Object.prototype.reference = true`],
  ])('harms nobody else: %s', async (_what, tamper) => {
    const bundle = sdkBot(
      `exports.handler = async ({ body }) => { if (body === 'tamper') { ${tamper} } return { status: 201 } }`,
    )
    await sandbox.run(callRun(bundle, { argument: { body: 'tamper' } }))
    const after = await sandbox.run(callRun(bundle))
    expect(after).toMatchObject({ status: 'done', result: { status: 201 } })
    const neighbour = handlerThat(`const reply = await fetch('${platformUrl}/v1'); return { status: reply.status }`)
    expect(await sandbox.run(callRun(neighbour))).toMatchObject({ status: 'done', result: { status: 200 } })
  })

  test('gets no call past its limits', async () => {
    const calls: HostCall[] = []
    const body = `
      Array.prototype.push = Promise.prototype.then = JSON.stringify = undefined
      const all = []
      for (let n = 0; n < 20; n += 1) all[n] = fetch('${platformUrl}/' + n).catch(() => {})
      await Promise.all(all)`
    await sandbox.run(
      callRun(
        handlerThat(body),
        {},
        {
          limits: { hostCalls: 5 },
          host: async (call) => {
            calls.push(call)
            return ok({})
          },
        },
      ),
    )
    expect(calls.length).toBeLessThanOrEqual(5)
  })

  test('speaks for no run but those of its own isolate', async () => {
    const mine = patientHost()
    const victim = callRun(handlerThat(`await fetch('${platformUrl}/mine')`), {}, { host: mine.host })
    const running = sandbox.run(victim)
    await expect.poll(() => mine.calls.length).toBe(1)
    const calls: HostCall[] = []
    const authorization = `Bearer run/${victim.id}`
    const thief = callRun(
      handlerThat(`await fetch('${platformUrl}/theirs', { headers: { authorization: '${authorization}' } })`),
      {},
      {
        limits: { wallMilliseconds: 500 },
        host: async (call) => {
          calls.push(call)
          return ok({})
        },
      },
    )
    expect(await sandbox.run(thief)).toMatchObject({ status: 'failed', reason: 'timeout' })
    expect([calls, mine.calls.length]).toEqual([[], 1])
    mine.answer(0)
    expect((await running).status).toBe('done')
  })
})
