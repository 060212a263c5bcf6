import { describe, expect, test } from 'vitest'
import { callRun, done, handlerThat } from '../fixture.ts'
import { sandboxOfFile, testAsInNode, type Case } from '../prelude/compare.ts'

const sandbox = sandboxOfFile()

const tick = '`'
const dollar = '$'

/** Bodies that return what `inspect` makes of a value. */
const inspected = [
  `return inspect({ a: 1, b: 'x', c: [1, 2, 3] })`,
  String.raw`return inspect('it\'s "q" ${tick}b${tick} ${dollar}{x}\n\x00\x7f\ud83d\u{1f600}')`,
  `return inspect("it's")`,
  String.raw`return inspect(${tick}it's "q"${tick})`,
  `return inspect([1.5, -0, 10n, null, undefined, true, Symbol('s')])`,
  `return inspect(new Map([['a', { b: 1 }], [{ c: 2 }, new Set([1])]]))`,
  `return inspect(new Set([1, 'a', [1]]))`,
  'return inspect([new Map(), new Set()])',
  'return inspect(new Date(0))',
  'return inspect([new Date(NaN), /a+/gi])',
  'return inspect(new Uint8Array(3))',
  'return inspect(new BigInt64Array(2))',
  'return inspect(new Float64Array([1.5, 2]))',
  'return inspect(new ArrayBuffer(4))',
  'return inspect(new DataView(new ArrayBuffer(4), 1))',
  `return inspect(Buffer.from('abc'))`,
  'return inspect([() => {}, function named() {}, class Thing {}, class B extends Map {}, async () => {}, function* g() {}, async function* ag() {}])',
  'return inspect(class {})',
  'return inspect(Object.assign(function f() {}, { a: 1 }))',
  'return inspect(new (class Point { x = 1 })())',
  'return inspect(new (class Empty {})())',
  'return inspect(Object.create(null))',
  'return inspect(Object.assign(Object.create(null), { a: 1 }))',
  'return inspect(Object.create({ a: 1 }))',
  'return inspect({ a: { b: { c: { d: 1 } } } })',
  'return inspect({ a: { b: { c: { d: 1 } } } }, { depth: 0 })',
  'return inspect({ a: { b: { c: { d: { e: { f: 1 } } } } } }, { depth: null })',
  'return inspect({ a: { b: { c: { d: { e: { f: 1 } } } } } }, false, null)',
  'return inspect({ a: { b: { c: { d: 1 } } } }, { depth: Infinity })',
  'return inspect([[[[1]]]])',
  'return inspect({ a: { b: { c: {} } }, d: { e: { f: [] } } })',
  `inspect({ get a() { throw new Error('called') }, set b(x) {}, get c() { return 1 }, set c(x) {} })`,
  'inspect({ get a() { return { x: 1 } }, get b() { return 2 } }, { getters: true })',
  'const a = {}; a.a = a; return inspect(a)',
  `const a = { name: 'a' }; const b = { a }; a.b = b; a.list = [a, b]; return inspect(a)`,
  `const m = new Map(); m.set('self', m); return inspect(m)`,
  `return inspect({ [Symbol('s')]: 1, [Symbol.iterator]: 2 })`,
  `return inspect({ 'a-b': 1, c_d: [], 1: 2, __proto__: null, 'with space': 'x' })`,
  `return inspect({ first: 'x'.repeat(50), second: { third: 'y'.repeat(50) } })`,
  'return inspect(Array.from({ length: 200 }, (_, n) => n))',
  `return inspect(Array.from({ length: 30 }, (_, n) => 'item ' + n))`,
  'return inspect(Array.from({ length: 7 }, (_, n) => ({ n })))',
  'return inspect(Array.from({ length: 27 }, (_, n) => n * n * n))',
  `return inspect(['ä', '漢字', 'x', 'y', 'z', 'long one', 'b', 'c'])`,
  'return inspect([1, , , 2, , ])',
  'return inspect(new Array(5))',
  `const l = [1]; l[50] = 2; l.x = 'y'; return inspect(l)`,
  `return inspect(new String('abc'))`,
  `return inspect([new Number(-0), new Boolean(true), Object(Symbol('x')), Object(1n)])`,
  `inspect((function () { return arguments })(1, 'a'))`,
  'return inspect(new WeakMap())',
  'return inspect(new WeakSet())',
  String.raw`return inspect({ a: 'line 1\nline 2 that is quite a bit longer than what fits into one line of output by default' })`,
  `return inspect('a'.repeat(20000)).length`,
  `return inspect('a'.repeat(20000)).slice(-30)`,
  `return inspect(['a'.repeat(200)], { maxStringLength: 10 })`,
  'return inspect([1, 2, 3, 4], { maxArrayLength: 2 })',
  'return inspect(new Set([1, 2, 3, 4]), { maxArrayLength: 2 })',
  'return inspect({ b: 1, a: 2 }, { sorted: true })',
  'return inspect({ a: 1, b: { c: 2 } }, { compact: false })',
  'return inspect({ a: [1, 2, { x: 1 }], b: { c: 2 } }, { compact: 1 })',
  'return inspect({ a: 1, b: { c: 2 } }, { compact: true })',
  `return inspect({ a: 'x'.repeat(30), b: { c: 'y'.repeat(30) } }, { breakLength: 200 })`,
  `return inspect({ a: 'x'.repeat(30), b: { c: 'y'.repeat(30) } }, { breakLength: Infinity })`,
  `return inspect({ a: 1, b: 'x', c: null, d: undefined, e: true, f: 1n, g: Symbol('a'), h: new Date(0), i: /x/, j() {} }, { colors: true })`,
  'return inspect([1, 2, 3], { colors: true })',
  'return inspect([1, 2], { showHidden: true })',
  `inspect({ [inspect.custom](depth, options, inner) { return 'custom ' + depth + ' ' + typeof options.stylize + ' ' + (inner === inspect) } })`,
  'inspect({ a: { [inspect.custom](depth, options) { return inspect({ x: { y: 1 } }, { ...options, depth: options.depth - 1 }) } } })',
  'inspect({ a: { [inspect.custom]() { return { shown: true } } } })',
  String.raw`inspect({ a: { [inspect.custom]() { return 'two\nlines' } } })`,
  `inspect({ [inspect.custom]() { return 'x' } }, { customInspect: false })`,
  `return inspect({ [inspect.custom]() { throw new Error('own') } })`,
  'class Money { constructor(n) { this.n = n } [inspect.custom]() { return `<${this.n}>` } } return inspect([new Money(1), { m: new Money(2) }, Money, Money.prototype])',
  String.raw`class Own extends Error {} const e = new Own('boom'); e.stack = 'Own: boom\n    at here (x.js:1:1)'; return inspect({ e })`,
  String.raw`const e = new Error('boom'); e.stack = 'Error: boom\n    at here (x.js:1:1)'; e.code = 'E1'; return inspect(e)`,
  String.raw`const e = new Error('boom'); e.stack = 'Error: boom\n    at here (x.js:1:1)'; const f = new TypeError('outer', { cause: e }); f.stack = 'TypeError: outer\n    at there (x.js:2:2)'; return inspect(f)`,
  String.raw`const e = new Error('a'); e.stack = 'Error: a\n    at here (x.js:1:1)'; const f = new AggregateError([e], 'all'); f.stack = 'AggregateError: all\n    at there (x.js:2:2)'; return inspect([f])`,
  `const e = new Error('no stack'); e.stack = undefined; return inspect(e)`,
  `const e = new Error('x'); delete e.stack; e.stack = 'just this'; return inspect(e)`,
  String.raw`class HttpError extends Error { constructor(m) { super(m); this.name = 'HttpError'; this.status = 404 } } const e = new HttpError('nf'); e.stack = e.stack.split('\n')[0] + '\n    at x (y.js:1:1)'; return inspect(e)`,
  String.raw`class HttpError extends Error { get name() { return 'HttpError' } } const e = new HttpError('nf'); e.stack = e.stack.split('\n')[0] + '\n    at x (y.js:1:1)'; return inspect(e)`,
  String.raw`class A extends Error {} A.prototype.name = 'BError'; const e = new A('nf'); e.stack = e.stack.split('\n')[0] + '\n    at x (y.js:1:1)'; return inspect(e)`,
  String.raw`const e = new RangeError(''); e.stack = 'RangeError\n    at x (y.js:1:1)'; return inspect(e)`,
  `return inspect(new URL('https://user:pw@example.com:8080/p?a=1#h'))`,
  `return inspect({ url: new URL('https://example.com/') })`,
  `return inspect(new URLSearchParams('a=1&b=2'))`,
  `return inspect(new Headers({ a: '1', b: '2' }))`,
  'return inspect(new Proxy({ a: 1 }, {}))',
  'return inspect(new Proxy([1, 2], {}))',
  'return inspect(globalThis.Math)',
  'return inspect(JSON)',
  'inspect(function () { return arguments }.prototype)',
  'return inspect((function* () {})())',
  'return inspect([1][Symbol.iterator]())',
  `return inspect(Symbol('x'))`,
  'return inspect(undefined)',
  'return inspect(null)',
  'return inspect(-0)',
  'return inspect(123456789.5)',
  'return inspect({ f: function () {}, g: () => 1, h: class {} })',
  `return inspect({ [Symbol.toStringTag]: 'Tagged', a: 1 })`,
  `class T { get [Symbol.toStringTag]() { return 'Tagged' } } return inspect(new T())`,
  'class T extends Map { constructor() { super(); this.x = 1 } } return inspect(new T())',
  'class T extends Array {} return inspect(T.from([1, 2]))',
  'class T extends Set {} return inspect(new T([1]))',
  'class T extends Date {} return inspect(new T(0))',
  'class T extends Promise {} return inspect(Object.keys(new T(() => {})))',
  'return inspect(new (function Legacy() { this.a = 1 })())',
  'return inspect({ a: [{ b: { c: {} } }] })',
  'return inspect({ a: [{ b: { c: { d: 1 } } }] })',
  'return inspect([[], {}, [[]], [{}]])',
  `return inspect({ users: [{ id: 1, name: 'Ann', tags: ['a', 'b'] }, { id: 2, name: 'Bob', tags: [] }], total: 2, next: null })`,
  `return inspect({ id: 'evt_01', type: 'text', payload: { text: 'Hello there, how are you?', nested: { deep: { deeper: 1 } } }, tags: {}, createdAt: new Date(0) })`,
  `return inspect(new Error('x', { cause: 'why' })).includes("[cause]: 'why'")`,
  'return inspect(Object.create(Object.create(null)))',
  'return inspect({ a: 1n, b: -5n })',
  'return inspect(new Array(3).fill({ a: 1 }))',
  String.raw`return inspect('x\ny'.repeat(30))`,
  String.raw`return inspect({ s: 'x\ny'.repeat(30) })`,
  `return inspect([,'a'], { showHidden: true })`,
  'return inspect({}, { depth: -1 })',
  'return inspect({ a: 1 }, { depth: -1 })',
  'return inspect(Object.freeze([1]))',
  `return inspect(new (class extends Object { constructor() { super(); this['a b'] = 1 } })())`,
  'return typeof inspect.defaultOptions.depth',
  `return inspect.custom === Symbol.for('nodejs.util.inspect.custom')`,
  `return inspect(new Blob(['abc'], { type: 'text/plain' }))`,
  'return inspect(new FormData())',
  `const f = new FormData(); f.append('a', '1'); f.append('a', '2'); f.append('b', '3'); return inspect(f)`,
  `class My extends URL {} return inspect(new My('http://a.b'))`,
]

const formatted = [
  `return format('%s %d %j %o', 'a', 1, { b: 2 }, 3)`,
  `return format('%s is %d, %i, %f, %j, %o and %O: 100%%', 'x', '42', '3.9', '3.9', { a: 1 }, [1], { b: 2 })`,
  `return format('%s', null)`,
  `return format('%s', undefined)`,
  `return format('%s %s', 'a')`,
  `return format('%s %s %s', Symbol('a'), 12n, -0)`,
  `return format('%s', { a: { b: 1 } })`,
  `return format('%s', [1, [2, [3]]])`,
  `return format('%s', () => 1)`,
  `return format('%s', function f() {})`,
  `return format('%s', class A {})`,
  `format('%s', class A { toString() { return 'A!' } })`,
  `format('%s', new (class A { toString() { return 'A!' } })())`,
  `return format('%s', new Date(0))`,
  `return format('%s', new URL('http://a.b/'))`,
  `return format('%s', Object.create(null))`,
  String.raw`return format('%s', new Error('x')).split('\n')[0]`,
  `format('%s', { toString() { return 'own' } })`,
  `format('%s', { [Symbol.toPrimitive]() { return 'prim' } })`,
  `return format('%d %d %d %d %d', '42', 'x', {}, 12n, Symbol('a'))`,
  `return format('%d %d', [], [5])`,
  `return format('%i %i %i %i', 42.9, 'x', {}, 12n)`,
  `return format('%f %f %f %f', 42.9, 'x', {}, 12n)`,
  `return format('%j %j %j', { a: 1 }, undefined, 'x')`,
  `const a = {}; a.a = a; return format('%j', a)`,
  `return format('%j', 1n)`,
  `return format('%j', { toJSON() { throw new Error('own') } })`,
  `return format('%o', { a: [1], f() {} })`,
  `return format('%o', [1, 2])`,
  `return format('%O', { a: { b: { c: { d: 1 } } } })`,
  `return format('%c styled', 'color: red')`,
  `return format('100% sure %s')`,
  `return format('100% sure %s', 'x')`,
  `return format('%%')`,
  `return format('%% %s', 'x')`,
  `return format('%%%s%%', 'x')`,
  `return format('%')`,
  `return format('%', 1)`,
  `return format('%x %s', 'a')`,
  `return format('a', 'b', { c: 1 }, [1], null, undefined, 5)`,
  `return format({ a: 1 }, 'b')`,
  `return format(1, 2, '3')`,
  'return format()',
  `return format('')`,
  `return format('', 1)`,
  `return format('%s', 'a', 'b', { c: { d: { e: { f: 1 } } } })`,
  `return format('%s')`,
  `return format('a %s b', 'x', 'y')`,
  `return format(Symbol('a'))`,
  'return format(-0)',
  'return format(new Map([[1, { a: 2 }]]))',
  `return util.formatWithOptions({ colors: true }, '%s %O', 'a', { b: 1 })`,
  `return util.formatWithOptions({ depth: 0 }, '%O', { b: { c: 1 } }, { b: { c: 1 } })`,
  'return util.formatWithOptions({ compact: false }, { b: { c: 1 } })',
  `return util.formatWithOptions({}, 'x %s', 1)`,
]

const toCase = (body: string): Case => [body, `const util = require('util'); const { format, inspect } = util; ${body}`]

describe('`util.inspect` shows what Node shows of', () => {
  testAsInNode(sandbox, inspected.map(toCase), 'sdk')
})

describe('`util.format` writes what Node writes for', () => {
  testAsInNode(sandbox, formatted.map(toCase), 'sdk')
})

/** The text that a body of a handler returns. */
async function told(body: string): Promise<string> {
  const code = `const util = require('util'); const { inspect } = util; ${body}`
  const handler = handlerThat(`const text = await (async () => { ${code} })(); return { body: String(text) }`)
  const { result } = done(await sandbox().run(callRun(handler, {}, { limits: { resultCharacters: 1_000_000 } })))
  return (result as { body: string }).body
}

describe('an error', () => {
  test.each(['util.inspect(error)', `util.format('failed: %s', error)`, `util.format('failed:', error)`])(
    'has its stack in %s, without the frames of the platform',
    async (call) => {
      const text = await told(
        `class RefusedError extends Error {} const error = new RefusedError('no'); return ${call}`,
      )
      expect(text).toMatch(/^(?:failed: )?RefusedError: no\n {4}at .*bot\.js:1:\d+\)?(?:\n {4}at .*bot\.js:1:\d+\)?)*$/)
    },
  )

  test('shows its causes, and the message that it has now', async () => {
    const text = await told(
      `const error = new Error('old', { cause: new TypeError('why') }); error.message = 'new'; return inspect(error)`,
    )
    expect(text).toMatch(/^Error: new\n {4}at [^]*\{\n {2}\[cause\]: TypeError: why\n {6}at [^]*\n\}$/)
  })
})

describe('a hostile value', () => {
  test.each([
    ['a proxy whose traps throw', `return inspect({ a: new Proxy({}, { ownKeys() { throw 1 } }), b: 2 })`],
    ['endless prototypes', `const p = new Proxy({}, { getPrototypeOf: () => p }); return inspect({ a: p, b: 2 })`],
  ])('is named where it stands: %s', async (_what, body) => {
    expect(await told(body)).toMatch(/^\{ a: .+, b: 2 \}$/)
  })

  test.each([
    [
      'depth',
      `const deep = {}; for (let at = deep, n = 0; n < 1e5; n += 1) at = at.a = {}; return inspect(deep, { depth: null })`,
    ],
    [
      'endless proxies',
      `const next = () => new Proxy({}, { ownKeys: () => ['a', 'b'], getOwnPropertyDescriptor: () => ({ value: next(), enumerable: true, configurable: true }) }); return inspect(next(), { depth: null })`,
    ],
    [
      'lists of all lists before',
      `const all = []; for (let n = 0; n < 100; n += 1) all.push([...all]); return inspect(all, { depth: null, maxArrayLength: null })`,
    ],
    ['many elements', `return inspect(Array.from({ length: 1e6 }, (_, n) => n), { maxArrayLength: null })`],
    ['many properties', `return inspect(Object.fromEntries(Array.from({ length: 1e5 }, (_, n) => ['k' + n, n])))`],
    ['a long text', `return inspect('x'.repeat(5e6), { maxStringLength: null })`],
    ['a long name', `return inspect({ ['x'.repeat(5e6)]: 1, [Symbol('x'.repeat(5e6))]: 2 })`],
    ['a long text of its own', `return inspect({ [inspect.custom]: () => 'x'.repeat(5e6) })`],
  ])('makes a text of bounded length: %s', async (_what, body) => {
    expect((await told(body)).length).toBeLessThan(400_000)
  })

  test('that shows itself for ever fails as in Node', async () => {
    const body = `const value = { [inspect.custom]: () => inspect(value) }; try { return inspect(value) } catch (error) { return error.name }`
    expect(await told(body)).toBe('RangeError')
  })
})
