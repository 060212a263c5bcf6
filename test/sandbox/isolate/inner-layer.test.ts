import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bot, botThat, done, logged, messageRun, openTestSandbox, type TestSandbox } from '../fixture.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await openTestSandbox()
})
afterAll(() => sandbox.close())

/** The value of an expression in the isolate. */
async function valueOf(expression: string): Promise<string | undefined> {
  const body = `let value; try { value = ${expression} } catch (error) { value = 'threw ' + error.name } console.log('%s', value)`
  return logged(await sandbox.run(messageRun(botThat(body))))[0]
}

describe('bot code finds nothing of Node', () => {
  test.each([
    `typeof process`,
    `typeof Buffer`,
    `typeof global`,
    `typeof fetch`,
    `typeof this?.constructor.constructor('return process')`,
    `typeof globalThis.constructor.constructor('return typeof process === "undefined" ? undefined : process')()`,
    `(() => {}).constructor('return typeof process')()`,
    `Function('return typeof require')()`,
    `client.createMessage.constructor('return typeof process')()`,
    `console.log.constructor('return typeof process')()`,
    `require.constructor('return typeof process')()`,
    `setTimeout.constructor('return typeof process')()`,
    `event.createdOn.constructor.constructor('return typeof process')()`,
    `Object.getPrototypeOf(async () => {}).constructor('return typeof process')() && 'undefined'`,
    `(() => { try { null.x } catch (error) { return error.constructor.constructor('return typeof process')() } })()`,
    `typeof WebAssembly`,
    `typeof SharedArrayBuffer`,
    `typeof Atomics`,
    `typeof new ArrayBuffer(1).resize`,
    `typeof new Uint8Array(1).buffer.transfer`,
  ])('in %s', async (expression) => {
    expect(await valueOf(expression)).toMatch(/^undefined$|^function$|^threw /)
  })

  test('in what it is given: every object reachable is of its own realm', async () => {
    const outcome = await sandbox.run(
      messageRun(
        botThat(`
          const seen = new Set()
          const strangers = []
          const visit = (value, path) => {
            if (value === null || (typeof value !== 'object' && typeof value !== 'function') || seen.has(value)) return
            seen.add(value)
            let prototype = value
            while (Object.getPrototypeOf(prototype) !== null) prototype = Object.getPrototypeOf(prototype)
            if (prototype !== Object.prototype && prototype !== value) strangers.push(path)
            for (const key of Reflect.ownKeys(value)) {
              let inner
              try { inner = value[key] } catch { continue }
              // Some getters of prototypes reject instead, which would be logged.
              if (inner instanceof Promise) inner.catch(() => {})
              visit(inner, path + '.' + String(key))
            }
            visit(Object.getPrototypeOf(value), path + '.__proto__')
          }
          visit({ event, client, state, logger, console, setTimeout, setInterval, clearTimeout, queueMicrotask, require, module }, 'given')
          visit(globalThis, 'global')
          console.log(strangers.length, strangers.slice(0, 5).join())`),
      ),
    )
    expect(logged(outcome)).toEqual(['0 '])
  })

  test('in a stack trace', async () => {
    const body = `
      Error.prepareStackTrace = (_, sites) => sites
      const sites = await new Promise((resolve) => setTimeout(() => resolve(new Error('x').stack)))
      const kernel = sites.filter((site) => !String(site.getFileName()).includes('bot.js'))
      console.log(kernel.length > 0, kernel.every((site) => site.getThis() === undefined && site.getFunction() === undefined))
      console.log(...new Set(sites.map((site) => site.getFileName())))`
    expect(logged(await sandbox.run(messageRun(botThat(body))))).toEqual(['true true', 'bot.js kernel'])
  })

  test('in the stack of a call that failed', async () => {
    const body = `
      Error.prepareStackTrace = (site, frames) => [site, frames]
      const error = await client.getMessage({}).catch((error) => error)
      const [site, frames] = error.stack
      const kernel = frames.filter((frame) => !String(frame.getFileName()).includes('bot.js'))
      console.log(error.message, Object.getPrototypeOf(site), Reflect.ownKeys(site).join(), kernel.length)
      error.stack = 'mine'
      console.log(error.stack)`
    const message = 'client.getMessage needs id, which is part of its path'
    expect(logged(await sandbox.run(messageRun(botThat(body))))).toEqual([
      expect.stringContaining(`${message} null name,message,stack`),
      'mine',
    ])
  })

  test('in the callers of its functions', async () => {
    const bundle = bot(`exports.hooks = { afterIncomingMessage: function hook({ logger }) {
      let caller; try { caller = hook.caller } catch (error) { caller = null }
      logger.info(caller === null || caller === undefined) } }`)
    expect(logged(await sandbox.run(messageRun(bundle)))).toEqual(['true'])
  })

  test('in modules: require says what to do instead', async () => {
    const outcome = await sandbox.run(messageRun(botThat(`require('left-pad')`)))
    const message = expect.stringContaining(`Cannot find module 'left-pad': it is not in the bundle`)
    expect(outcome).toMatchObject({ status: 'failed', error: { message } })
  })

  test('in import()', async () => {
    expect((await sandbox.run(messageRun(botThat(`await import('node:fs')`)))).status).toBe('failed')
  })
})

describe('tampering', () => {
  test.each([
    [
      'Object.prototype',
      `Object.prototype.reference = true; Object.prototype.result = { reference: true }; Object.prototype.copy = true`,
    ],
    ['JSON', `JSON.parse = JSON.stringify = () => { throw new Error('tampered') }`],
    [
      'Promise',
      `Promise.prototype.then = Promise.prototype.catch = Promise.resolve = function () { throw new Error('tampered') }`,
    ],
    ['the global Promise', `globalThis.Promise = function () { throw new Error('tampered') }`],
    [
      'Array.prototype',
      `for (const name of Object.getOwnPropertyNames(Array.prototype)) if (name !== 'constructor') try { Array.prototype[name] = () => { throw new Error('tampered') } } catch {}`,
    ],
    ['iterators', `Array.prototype[Symbol.iterator] = () => { throw new Error('tampered') }`],
    [
      'setters of indices',
      `Object.defineProperty(Array.prototype, '0', { set() { throw new Error('tampered') }, configurable: true })`,
    ],
    [
      'String.prototype',
      `for (const name of ['slice', 'indexOf', 'split', 'includes']) String.prototype[name] = () => { throw new Error('tampered') }`,
    ],
    [
      'Function.prototype',
      `Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw new Error('tampered') }`,
    ],
    [
      'Map, WeakMap and Reflect',
      `Map.prototype.get = WeakMap.prototype.get = WeakMap.prototype.set = Reflect.apply = () => { throw new Error('tampered') }`,
    ],
    [
      'Object',
      `for (const name of Object.getOwnPropertyNames(Object)) try { Object[name] = () => { throw new Error('tampered') } } catch {}`,
    ],
    [
      'Date and Error',
      `globalThis.Date = globalThis.Error = globalThis.TypeError = function () { throw new SyntaxError('tampered') }`,
    ],
    [
      'the globals',
      `for (const name of Object.getOwnPropertyNames(globalThis)) try { if (name !== 'console') delete globalThis[name] } catch {}`,
    ],
  ])('with %s breaks no other run', async (_what, code) => {
    const bundle = bot(`exports.hooks = {
      beforeIncomingMessage({ event }) { if (event.preview === 'tamper') { ${code} } },
      async afterIncomingMessage({ client, logger, state }) {
        const { message } = await client.createMessage({ text: 'sent' })
        logger.info('%s', typeof message)
        state.conversation = 'kept'
      } }`)
    await sandbox.run(messageRun(bundle, { event: { preview: 'tamper' } }))
    const same = await sandbox.run(messageRun(bundle))
    expect(same.status).toBe('done')
    expect(same.logs).toHaveLength(1)
    const other = done(await sandbox.run(messageRun(botThat(`await client.createMessage({ text: 'x' })`))))
    expect(other.logs).toEqual([])
  })

  test('with the client, the logger or their functions is refused', async () => {
    const body = `
      'use strict'
      for (const change of [() => { client.createMessage = null }, () => { logger.info = null }, () => { delete client.createMessage },
        () => { Object.getPrototypeOf(client).createMessage = null }, () => { Object.setPrototypeOf(client, null) }])
        try { change(); console.log('changed', String(change)) } catch (error) { console.log(error.name) }`
    const lines = logged(await sandbox.run(messageRun(botThat(body))))
    expect(new Set(lines.filter((line) => line !== 'TypeError'))).toEqual(
      new Set(lines.filter((line) => line.startsWith('changed () => { delete'))),
    )
  })
})

test('growing array buffers can not be made, however they are asked for', async () => {
  const ways = [
    `new ArrayBuffer(1, { maxByteLength: 1e9 }).resizable`,
    `new (new Uint8Array(1).buffer.constructor)(1, { maxByteLength: 1e9 }).resizable`,
    `new (class extends ArrayBuffer {})(1, { maxByteLength: 1e9 }).resizable`,
    `Reflect.construct(ArrayBuffer, [1, { maxByteLength: 1e9 }]).resizable`,
  ]
  for (const way of ways) expect(await valueOf(way)).toBe('false')
})

test('array buffers otherwise work as ever', async () => {
  const body = `
    const bytes = new Uint8Array(new ArrayBuffer(4)); bytes.set([1, 2, 3, 4])
    console.log(bytes.slice(1, 3), bytes.buffer.slice(2).byteLength, bytes.buffer instanceof ArrayBuffer, ArrayBuffer.isView(bytes))`
  expect(logged(await sandbox.run(messageRun(botThat(body))))).toEqual(['Uint8Array(2) [ 2, 3 ] 2 true true'])
})

test('an isolate that has made many Intl objects is replaced before they run out', async () => {
  const bundle = bot(`let made = 0; exports.hooks = { afterIncomingMessage({ logger }) {
    for (let n = 0; n < 400; n += 1) { new Intl.NumberFormat('en'); made += 1 }
    logger.info(made, new Intl.NumberFormat('en').format(1234.5), new Intl.NumberFormat('en') instanceof Intl.NumberFormat) } }`)
  const lines: string[] = []
  for (let run = 0; run < 7; run += 1) lines.push(...logged(await sandbox.run(messageRun(bundle))))
  expect(lines.map((line) => line.split(' ').slice(1).join(' '))).toEqual(Array(7).fill('1,234.5 true'))
  expect(lines.map((line) => line.split(' ')[0]).filter((made) => made === '400').length).toBeGreaterThan(1)
})

test('an isolate makes only so many Intl objects', async () => {
  const outcome = await sandbox.run(messageRun(botThat(`for (;;) new Intl.DateTimeFormat('en')`)))
  expect(outcome).toMatchObject({ status: 'failed', reason: 'error', error: { name: 'RangeError' } })
})
