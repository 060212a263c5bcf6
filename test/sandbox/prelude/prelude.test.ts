import { createCipheriv, randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Json } from '#sandbox/protocol/contract.ts'
import { chachaBlock } from '#sandbox/prelude/random.ts'
import { callRun, done, handlerThat, openTestSandbox, platformUrl, type TestSandbox } from '../fixture.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await openTestSandbox()
})
afterAll(() => sandbox.close())

/** The result of a function with this body in the isolate, through JSON. */
async function inside(body: string): Promise<Json> {
  const code = `const value = await (async () => { ${body} })(); return { body: JSON.stringify({ value }) }`
  const { result } = done(await sandbox.run(callRun(handlerThat(code))))
  return (JSON.parse((result as { body: string }).body) as { value: Json }).value
}

type AsyncFunctionConstructor = new (...source: string[]) => (...values: unknown[]) => Promise<unknown>
const AsyncFunction = (async () => {}).constructor as AsyncFunctionConstructor

/** Its result in Node. */
async function inNode(body: string): Promise<Json> {
  const value = await new AsyncFunction('require', body)(createRequire(import.meta.url))
  return (JSON.parse(JSON.stringify({ value })) as { value: Json }).value
}

const caught = (expression: string) => `try { ${expression} } catch (error) { return error.name }`

describe('the globals of SDK bundles behave as in Node', () => {
  test.each([
    [
      'addresses',
      `const url = new URL('../ü?q=a b#f', 'HTTPS://user@Exämple.com:443/a/b/'); return [url.href, url.host, url.origin]`,
    ],
    ['addresses that are none', caught(`new URL('nowhere')`)],
    [
      'queries',
      `const query = new URLSearchParams('a=1&b=x%20y&a=%C3%A9'); query.append('c', '&='); return [[...query], query.getAll('a'), String(query)]`,
    ],
    ['characters to bytes', `return [...new TextEncoder().encode('aé€😀\\uD800!')]`],
    [
      'characters into bytes',
      `const target = new Uint8Array(5); return [new TextEncoder().encodeInto('aé€', target), [...target]]`,
    ],
    [
      'bytes in parts',
      `const decoder = new TextDecoder(); return [240, 159, 152, 128, 97].map((byte) => decoder.decode(Uint8Array.of(byte), { stream: true }))`,
    ],
    ['bytes that end too early', `return new TextDecoder().decode(Uint8Array.of(97, 226, 130))`],
    [
      'a byte order mark',
      `const bytes = Uint8Array.of(239, 187, 191, 97); return [new TextDecoder().decode(bytes), new TextDecoder('utf8', { ignoreBOM: true }).decode(bytes)]`,
    ],
    ['bytes that must be right', caught(`new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.of(255))`)],
    [
      'base64',
      `return [btoa('h\\xe9'), atob('aOk='), Buffer.from('é😀').toString('base64'), Buffer.from('w6k=', 'base64').toString()]`,
    ],
    ['base64 of what is too wide', caught(`btoa('€')`)],
    [
      'copies',
      `const copy = structuredClone({ map: new Map([[1, new Date(0)]]), list: [undefined, { a: 1 }] }); return [[...copy.map], copy.list, copy.map.get(1) instanceof Date]`,
    ],
    ['copies of what can not be copied', caught(`structuredClone(() => {})`)],
    [
      'signals',
      `const controller = new AbortController(); const seen = []
      controller.signal.addEventListener('abort', (event) => seen.push(event.type)); controller.signal.onabort = () => seen.push('on')
      controller.abort('why'); controller.abort('again'); return [seen, controller.signal.aborted, controller.signal.reason]`,
    ],
    [
      'signals without a reason',
      `const { reason } = AbortSignal.abort(); return [reason.name, reason instanceof DOMException, reason.code]`,
    ],
    [
      'the first of several signals',
      `const one = new AbortController(); const any = AbortSignal.any([one.signal, new AbortController().signal]); one.abort(7); return [any.aborted, any.reason]`,
    ],
    [
      'signals of the clock',
      `const signal = AbortSignal.timeout(5); await new Promise((resolve) => signal.addEventListener('abort', resolve)); return signal.reason.name`,
    ],
    ['signals that nobody made', caught(`new AbortSignal()`)],
    [
      'headers from lists, maps and others like them',
      `const cookies = new Headers([['Set-Cookie', 'a=1'], ['set-cookie', 'b=2'], ['n', 5]]); const copy = new Headers(cookies); cookies.delete('n')
      return [[...copy], copy.getSetCookie(), [...new Headers(new Map([['x', 'y']])).keys()], [...copy.values()], copy.get('none')]`,
    ],
    ['headers with names that can not be', caught(`new Headers({ 'a b': '1' })`)],
    ['headers with line breaks', caught(`new Headers().set('a', '1\\r\\nb: 2')`)],
    [
      'headers',
      `const headers = new Headers({ 'X-One': ' 1 ', b: '2' }); headers.append('x-one', '3'); headers.delete('b'); return [[...headers], headers.get('X-ONE'), headers.has('b')]`,
    ],
    [
      'requests',
      `const request = new Request('https://example.com/a', { method: 'post', body: '{}', headers: { a: 'b' } }); const copy = request.clone()
      return [request.method, request.url, request.headers.get('content-type'), await request.text(), request.bodyUsed, await copy.json()]`,
    ],
    ['a request with a body that can have none', caught(`new Request('https://example.com', { body: 'x' })`)],
    [
      'a body that is read twice',
      `const response = new Response('x'); await response.text(); try { await response.text() } catch (error) { return error.name }`,
    ],
    [
      'responses',
      `const response = Response.json({ a: 'é' }, { status: 201 }); return [response.ok, response.status, response.headers.get('content-type'), [...new Uint8Array(await response.arrayBuffer())]]`,
    ],
    [
      'responses of bytes',
      `const bytes = Uint8Array.of(104, 105); const response = new Response(bytes); bytes[0] = 0; return response.text()`,
    ],
    [
      'random numbers',
      `const bytes = crypto.getRandomValues(new Uint8Array(65536)); return [bytes.length, new Set(bytes).size, crypto.randomUUID().replace(/[0-9a-f]/g, 'x')[14]]`,
    ],
    ['too many random numbers', caught(`crypto.getRandomValues(new Uint8Array(65537))`)],
    [
      'turns',
      `const seen = []; await new Promise((resolve) => { setImmediate((name) => { seen.push(name); resolve() }, 'immediate'); process.nextTick(() => seen.push('tick')); seen.push('now') }); return seen`,
    ],
    [
      'turns that are not wanted any more',
      `let ran = false; clearImmediate(setImmediate(() => { ran = true })); await new Promise((resolve) => setTimeout(resolve, 20)); return ran`,
    ],
    ['the global object', `return global === globalThis`],
    [
      'util',
      `const util = require('util'); function A() {} function B() {} util.inherits(A, B); return [util.format('%s %d %j', 'a', 1, { b: 2 }), new A() instanceof B, typeof util.inspect.custom, new util.TextEncoder().encode('a').length]`,
    ],
    [
      'events',
      `const { EventEmitter } = require('node:events'); const emitter = new EventEmitter(); let seen; emitter.once('a', (value) => { seen = value }); return [emitter.emit('a', 1), emitter.emit('a', 2), seen]`,
    ],
    [
      'paths',
      `const path = require('path'); return [path.join('/a', '..', 'b'), path.extname('x.tar.gz'), path.basename('/a/b')]`,
    ],
    [
      'assertions',
      `const assert = require('assert'); assert(true); assert.strictEqual(1, 1); try { assert.strictEqual(1, 2) } catch (error) { return error instanceof Error }`,
    ],
    [
      'streams to derive from',
      `const { Stream, Writable } = require('stream'); function Mine() { Writable.call(this) } require('util').inherits(Mine, Writable)
      let heard = 0; const mine = new Mine(); mine.on('x', () => { heard += 1 }); mine.emit('x'); return [heard, mine instanceof Writable, typeof Stream]`,
    ],
    [
      'random bytes',
      `const { randomBytes } = require('crypto'); const bytes = randomBytes(70000); return [bytes.length, Buffer.isBuffer(bytes), new Set(bytes.subarray(66000)).size]`,
    ],
  ])('%s', async (_what, body) => {
    const expected = await inNode(body)
    expect(expected).not.toBeNull()
    expect(await inside(body)).toEqual(expected)
  })

  test('text from any bytes', async () => {
    const edges = [
      0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xed, 0xef, 0xf0, 0xf4, 0xf5,
    ]
    const body = `const edges = ${JSON.stringify(edges)}; const decoder = new TextDecoder(); let text = ''
      for (const a of edges) for (const b of edges) for (const c of edges) text += decoder.decode(Uint8Array.of(a, b, c, 0x80, 0x41)) + '|'
      return text`
    expect(await inside(body)).toBe(await inNode(body))
  })
})

test('random numbers are the key stream of ChaCha20', () => {
  const key = randomBytes(32)
  const nonce = randomBytes(12)
  const counter = 7
  const start = Buffer.alloc(16)
  start.writeUInt32LE(counter, 0)
  nonce.copy(start, 4)
  const block = chachaBlock(toWords(key), counter, toWords(nonce))
  expect(Buffer.from(block.buffer)).toEqual(createCipheriv('chacha20', key, start).update(Buffer.alloc(64)))
})

function toWords(bytes: Buffer): Uint32Array {
  return Uint32Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readUInt32LE(4 * index))
}

test('process has the properties of Node, but not its tag', async () => {
  const body = `return [Object.prototype.toString.call(process), typeof process.versions.node, process.env.BP_API_URL, process.stderr.fd]`
  expect(await inside(body)).toEqual(['[object Object]', 'string', platformUrl, 2])
})
