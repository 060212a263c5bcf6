import { describe, expect, test } from 'vitest'
import { bot, callRun, done, logged, messageRun, botThat } from '../fixture.ts'
import { sandboxOfFile, testAsInNode, type Case } from './compare.ts'

const sandbox = sandboxOfFile()

const classes = [
  'AbortController',
  'AbortSignal',
  'Blob',
  'ByteLengthQueuingStrategy',
  'CountQueuingStrategy',
  'CryptoKey',
  'CustomEvent',
  'DOMException',
  'Event',
  'EventTarget',
  'File',
  'FormData',
  'Headers',
  'ReadableStream',
  'Request',
  'Response',
  'SubtleCrypto',
  'TextDecoder',
  'TextDecoderStream',
  'TextEncoder',
  'TextEncoderStream',
  'TransformStream',
  'URL',
  'URLSearchParams',
  'WritableStream',
]

describe('timers do what they do in Node', () => {
  testAsInNode(sandbox, [
    [
      'values for the callback',
      `return new Promise((resolve) => setTimeout((...values) => resolve(values), 1, 'a', 2))`,
    ],
    [
      'the order of their delays',
      `const seen = []; await new Promise((resolve) => { setTimeout(() => { seen.push('c'); resolve() }, 500); setTimeout(() => seen.push('b'), 200); setTimeout(() => seen.push('a'), 1) }); return seen`,
    ],
    [
      'the order of those with one delay',
      `const seen = []; for (let n = 0; n < 5; n += 1) setTimeout(() => seen.push(n), 5); await new Promise((resolve) => setTimeout(resolve, 5)); return seen`,
    ],
    [
      'after microtasks',
      `const seen = []; setTimeout(() => seen.push('timer')); queueMicrotask(() => seen.push('microtask')); Promise.resolve().then(() => seen.push('promise')); seen.push('now'); await new Promise((resolve) => setTimeout(resolve, 20)); return seen`,
    ],
    [
      'a microtask of a timer before the next timer',
      `const seen = []; setTimeout(() => { seen.push(1); queueMicrotask(() => seen.push(2)) }, 1); setTimeout(() => seen.push(3), 30); await new Promise((resolve) => setTimeout(resolve, 60)); return seen`,
    ],
    [
      'delays that are none',
      `let count = 0; for (const delay of [undefined, null, -5, NaN, 'x', '1', {}, 0.5]) setTimeout(() => { count += 1 }, delay); await new Promise((resolve) => setTimeout(resolve, 50)); return count`,
    ],
    ['a delay that is too long', `return new Promise((resolve) => setTimeout(() => resolve('at once'), 2 ** 31))`],
    [
      'an interval',
      `let ticks = 0; await new Promise((resolve) => { const interval = setInterval((step) => { ticks += step; if (ticks === 6) { clearInterval(interval); resolve() } }, 1, 2) }); await new Promise((resolve) => setTimeout(resolve, 20)); return ticks`,
    ],
    [
      'a timer that is cleared',
      `let ran = false; clearTimeout(setTimeout(() => { ran = true }, 1)); await new Promise((resolve) => setTimeout(resolve, 20)); return ran`,
    ],
    [
      'an interval that is cleared as a timer',
      `let ran = 0; const interval = setInterval(() => { ran += 1; clearTimeout(interval) }, 1); await new Promise((resolve) => setTimeout(resolve, 30)); return ran`,
    ],
    [
      'clearing what is none',
      `for (const value of [undefined, null, 0, -1, 1e9, 'x', {}]) { clearTimeout(value); clearInterval(value) } return 'fine'`,
    ],
    [
      'clearing it twice',
      `const timer = setTimeout(() => {}, 1); clearTimeout(timer); clearTimeout(timer); return 'fine'`,
    ],
    ['no function', `setTimeout(12, 1)`],
    ['a text', `setTimeout('1 + 1', 1)`],
    [
      'a timer within a timer',
      `return new Promise((resolve) => setTimeout(() => setTimeout(() => resolve('in'), 1), 1))`,
    ],
    ['queueMicrotask of no function', `queueMicrotask(1)`],
    [
      'queueMicrotask before a later promise',
      `const seen = []; queueMicrotask(() => seen.push(1)); Promise.resolve().then(() => seen.push(2)); await new Promise((resolve) => setTimeout(resolve, 5)); return seen`,
    ],
  ])

  test('an error in a timer is in the log, and the run goes on', async () => {
    const body = `setTimeout(() => { throw new RangeError('late') }, 1); await new Promise((resolve) => setTimeout(resolve, 30)); logger.info('on')`
    const outcome = await sandbox().run(messageRun(botThat(body)))
    expect(outcome.status).toBe('done')
    expect(logged(outcome)).toEqual([expect.stringContaining('RangeError: late'), 'on'])
  })
})

describe('performance does what it does in Node', () => {
  testAsInNode(sandbox, [
    [
      'now',
      `const start = performance.now(); await new Promise((resolve) => setTimeout(resolve, 10)); const end = performance.now(); return [start >= 0, end - start >= 8, end - start < 20_000]`,
    ],
    ['timeOrigin', `return Math.abs(performance.timeOrigin + performance.now() - Date.now()) < 1000`],
  ])
})

describe('a class', () => {
  testAsInNode(
    sandbox,
    classes.map((name): Case => [
      `${name} has its name, and is no property that is enumerated`,
      `const globals = (function () { return this })() ?? globalThis; const { writable, enumerable, configurable } = Object.getOwnPropertyDescriptor(globalThis, '${name}'); return [${name}.name, typeof ${name}, enumerable, configurable, ${name}.prototype.constructor === ${name}]`,
    ]),
  )
})

const buffers: readonly Case[] = [
  [
    'from a text',
    `return [Buffer.from('aé€😀'), Buffer.from('61', 'hex'), Buffer.from('YQ', 'base64'), Buffer.from('YQ-_', 'base64url'), Buffer.from('é', 'latin1'), Buffer.from('ab', 'utf16le')]`,
  ],
  [
    'from others',
    `return [Buffer.from([1, 256, -1]), Buffer.from(Uint8Array.of(1, 2)), Buffer.from(new ArrayBuffer(2)), Buffer.from({ type: 'Buffer', data: [1] })]`,
  ],
  [
    'to texts',
    `const buffer = Buffer.from('aé€'); return ['utf8', 'hex', 'base64', 'base64url', 'latin1', 'ascii', 'utf16le'].map((encoding) => buffer.toString(encoding))`,
  ],
  ['to a part of a text', `return Buffer.from('abcdef').toString('utf8', 1, 3)`],
  ['to JSON', `return JSON.stringify(Buffer.from('ab'))`],
  [
    'alloc and concat',
    `return [Buffer.alloc(3, 'ab'), Buffer.concat([Buffer.from('a'), Buffer.from('bc')]), Buffer.concat([Buffer.from('abc')], 2)]`,
  ],
  [
    'numbers',
    `const buffer = Buffer.alloc(16); buffer.writeUInt16BE(0x1234, 0); buffer.writeInt32LE(-2, 2); buffer.writeDoubleBE(1.5, 6); return [buffer, buffer.readUInt16LE(0), buffer.readInt32LE(2), buffer.readDoubleBE(6), buffer.readUIntBE(0, 3)]`,
  ],
  [
    'large numbers',
    `const buffer = Buffer.alloc(8); buffer.writeBigUInt64BE(2n ** 63n); return [buffer, buffer.readBigInt64BE(0)]`,
  ],
  ['numbers out of range', `Buffer.alloc(2).writeUInt8(256)`],
  [
    'compared',
    `return [Buffer.compare(Buffer.from('a'), Buffer.from('b')), Buffer.from('a').equals(Buffer.from('a')), Buffer.from('a') instanceof Uint8Array, Buffer.isBuffer(new Uint8Array(1))]`,
  ],
  [
    'searched',
    `const buffer = Buffer.from('abcabc'); return [buffer.indexOf('c'), buffer.indexOf('bc', 2), buffer.lastIndexOf('a'), buffer.includes('x'), buffer.indexOf(98)]`,
  ],
  [
    'slices share their bytes',
    `const buffer = Buffer.from('abc'); buffer.subarray(1)[0] = 120; buffer.slice(2)[0] = 121; return buffer.toString()`,
  ],
  [
    'filled and copied',
    `const target = Buffer.alloc(4); Buffer.from('xyz').copy(target, 1, 1); return [target, Buffer.alloc(4).fill('é')]`,
  ],
  [
    'written',
    `const buffer = Buffer.alloc(8); return [buffer.write('ab'), buffer.write('_-8', 2, 'base64url'), buffer.write('cdef', 5, 2), buffer.write('ff', 7, 1, 'hex'), buffer]`,
  ],
  [
    'a token, there and back',
    `const part = Buffer.from(JSON.stringify({ sub: 'ä?>' })).toString('base64url'); return [part, JSON.parse(Buffer.from(part, 'base64url')).sub, JSON.parse(Buffer.from(part, 'BASE64URL').toString()).sub]`,
  ],
  ['swapped', `return Buffer.from([1, 2, 3, 4]).swap16()`],
  [
    'lengths of texts',
    `return [Buffer.byteLength('é€'), Buffer.byteLength('YQ==', 'base64'), Buffer.byteLength('YWI', 'base64url'), Buffer.isEncoding('base64url'), Buffer.isEncoding('UTF-8'), Buffer.isEncoding('none')]`,
  ],
  ['an encoding that there is not', `return Buffer.from('a', 'none')`],
  [
    'from texts with characters of each length, lone surrogates among them',
    `return ['', 'a', 'é', '€', '😀', '\\ud83d', '\\ude00\\ud83d', 'a\\ud83d\\ude00b\\ud83d', 'ab€'.repeat(9)].flatMap((text) =>
       [Buffer.from(text), Buffer.from(text, 'UTF-8'), Buffer.from(text, 'latin1'), Buffer.byteLength(text), Buffer.byteLength(text, 'utf8')])`,
  ],
  [
    'from base64 that is spaced, padded too much or too little, or none',
    `return ['YWJj', 'YWI=', 'YWI', 'YQ==', 'YQ=', 'Y', 'YW Jj\\n', 'YW-_', '****', 'YQ==YQ==', '='].flatMap((text) =>
       [Buffer.from(text, 'base64'), Buffer.from(text, 'base64url')])`,
  ],
  [
    'to a part of a text in the middle of characters',
    `const buffer = Buffer.from('aé€😀b'); return ['utf8', undefined, 'latin1', 'binary', 'UTF8'].map((encoding) =>
       [[0, 2], [2, 4], [1, 3], [5, 8], [0, 100], [3, 3], [4, 2], [-3, 2], [11, 12]].map((range) => buffer.toString(encoding, ...range)))`,
  ],
  [
    'to a text that begins with a byte order mark, and from bytes that are no text',
    `return ['efbbbf41', 'ff41c3', 'eda080', 'f0908041'].map((bytes) => Buffer.from(bytes, 'hex').toString())`,
  ],
  ['to an encoding that there is not', `return Buffer.from('a').toString(5)`],
  [
    'written as far as whole characters fit',
    `return ['aé€', '€€', '😀', ''].flatMap((text) => [[], [1], [1, 2], [0, 3], [2, 1, 'utf8'], ['utf-8'], [4], [0, 0]].map((place) => {
       const buffer = Buffer.alloc(4); return [buffer.write(text, ...place), buffer] }))`,
  ],
  ['written outside of it', `return Buffer.alloc(4).write('a', 5)`],
  [
    'written into a part of another',
    `const buffer = Buffer.alloc(6); return [buffer.subarray(2, 5).write('éé'), buffer.subarray(2, 5).toString('latin1'), buffer]`,
  ],
]

describe('Buffer does what it does in Node', () => {
  testAsInNode(sandbox, buffers)
})

describe('changes of the web’s globals by code', () => {
  /** Replaces and poisons what it finds, then says what it reached. */
  const poison = `
    const natives = ['Promise', 'Map', 'Array', 'Uint8Array', 'ArrayBuffer', 'JSON', 'Reflect', 'String', 'RegExp', 'Date', 'Symbol']
    for (const key of ['then', 'get', 'set', 'value', 'reference', 'result', 'name', 'body', 'status', 'token', '0', 'length']) {
      try { Object.defineProperty(Object.prototype, key, { get() { return () => 'poison' }, set() {}, configurable: true }) } catch {}
    }`

  test('is its own business: the next bot has them as they were', async () => {
    const vandal = bot(`exports.handler = async () => {
      for (const name of ${JSON.stringify(classes)}) globalThis[name] = class { constructor() { throw new Error('stolen') } }
      URL = Headers = Response = undefined
      crypto.getRandomValues = (view) => view.fill(7)
      console.log = () => {}
      ${poison}
      return 1 }`)
    await sandbox().run(callRun(vandal))
    const victim = bot(
      `exports.handler = async () => [new URL('https://a.example').host, crypto.getRandomValues(new Uint8Array(8)).every((byte) => byte === 7), await new Response('a').text()]`,
    )
    expect(done(await sandbox().run(callRun(victim))).result).toEqual(['a.example', false, 'a'])
  })

  test('does not keep the run from ending, nor its result from being read', async () => {
    const code = `exports.handler = async () => {
      for (const name of Object.getOwnPropertyNames(globalThis)) { try { if (!['Object', 'globalThis', 'undefined'].includes(name)) globalThis[name] = undefined } catch {} }
      return { fine: 'yes' } }`
    expect(done(await sandbox().run(callRun(bot(code)))).result).toEqual({ fine: 'yes' })
  })

  test('gets it no function that is not of its own realm', async () => {
    const code = `exports.handler = async () => {
      const seen = new Set(); const found = []
      const walk = (value, path) => {
        if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value) || path.length > 120) return
        seen.add(value)
        for (let proto = value; proto !== null; proto = Object.getPrototypeOf(proto)) {
          if (proto === Object.prototype || proto === Function.prototype) break
          if (Object.getPrototypeOf(proto) === null && proto !== Object.prototype && typeof value === 'function') found.push(path)
        }
        for (const key of Reflect.ownKeys(value)) {
          const descriptor = Object.getOwnPropertyDescriptor(value, key)
          for (const part of [descriptor.value, descriptor.get, descriptor.set]) walk(part, path + '.' + String(key))
        }
      }
      walk(globalThis, '')
      const proofs = ['process', 'require', 'module', 'ivm'].filter((name) => { try { return (0, eval)('typeof ' + name) !== 'undefined' } catch { return false } })
      return { found, proofs, many: seen.size > 1000 } }`
    const limits = { cpuMilliseconds: 10_000 }
    expect(done(await sandbox().run(callRun(bot(code), {}, { limits }))).result).toEqual({
      found: [],
      proofs: [],
      many: true,
    })
  })

  test.each([
    ['digests', `const bytes = new Uint8Array(2e6); for (;;) await crypto.subtle.digest('SHA-512', bytes)`],
    [
      'derivation of keys',
      `const key = await crypto.subtle.importKey('raw', new Uint8Array(8), 'PBKDF2', false, ['deriveBits']); await crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-512', salt: new Uint8Array(8), iterations: 1e9 }, key, 512)`,
    ],
    [
      'encryption',
      `const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt']); for (;;) await crypto.subtle.encrypt({ name: 'AES-GCM', iv: new Uint8Array(12) }, key, new Uint8Array(2e6))`,
    ],
    [
      'signatures',
      `const { privateKey } = await crypto.subtle.generateKey('Ed25519', false, ['sign']); for (;;) await crypto.subtle.sign('Ed25519', privateKey, new Uint8Array(9))`,
    ],
    ['random numbers', `const bytes = new Uint8Array(65536); for (;;) crypto.getRandomValues(bytes)`],
    ['base64', `let text = 'a'; for (;;) text = btoa(text).slice(0, 1e6)`],
    ['decoding', `const bytes = new Uint8Array(4e6).fill(255); for (;;) new TextDecoder().decode(bytes)`],
    [
      'URLs',
      `for (let n = 0; ; n += 1) new URL('https://' + 'ä'.repeat(n % 1000) + '.example/' + 'x/../'.repeat(n % 1000))`,
    ],
    ['copies', `let value = {}; for (let n = 0; n < 1000; n += 1) value = { value }; for (;;) structuredClone(value)`],
    ['streams', `for await (const part of new ReadableStream({ pull(controller) { controller.enqueue(1) } })) ;`],
    [
      'forms',
      `const form = new FormData(); for (let n = 0; n < 1000; n += 1) form.append('a' + n, 'x'); for (;;) await new Response(form).formData()`,
    ],
  ])('without end is ended by its limit of processor time: %s', async (_what, body) => {
    const run = callRun(bot(`exports.handler = async () => { ${body} }`), {}, { limits: { cpuMilliseconds: 150 } })
    const outcome = await sandbox().run(run)
    expect(outcome).toMatchObject({ status: 'failed', reason: 'cpu' })
    expect(outcome.cpuMilliseconds).toBeLessThan(2000)
  })
})
