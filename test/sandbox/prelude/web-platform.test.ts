import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { bundlePrograms } from '#sandbox/host/programs.ts'
import type { Json } from '#sandbox/protocol/contract.ts'
import { bot, callRun, done } from '../fixture.ts'
import { inBoth, sandboxOfFile, testAsInNode, type Case } from './compare.ts'

const sandbox = sandboxOfFile()

/** Gives what each expression comes to, one after the other. */
function each(expressions: readonly string[]): string {
  const works = expressions.map((expression) => `async () => (${expression})`).join(',\n')
  return `const results = []
    for (const work of [${works}]) {
      try { results.push(await work()) } catch (error) { results.push('<threw ' + error.name + '>') }
    }
    return results`
}

/** Makes a copy, and tells of which kind it is. */
function clones(expression: string): string {
  return `const copy = structuredClone(${expression}); return [Object.prototype.toString.call(copy), copy]`
}

/** Makes a request with these options. */
function made(options: string): string {
  return `new Request('https://a.example', ${options})`
}

test('the light globals of the web are a script of 82 KB at most, which each isolate that uses one evaluates', async () => {
  const { groups } = await bundlePrograms()
  expect(groups.web.length).toBeLessThan(82_000)
})

describe('structuredClone does what it does in Node', () => {
  testAsInNode(sandbox, [
    ...[
      'Date',
      'RegExp',
      'Map',
      'Set',
      'ArrayBuffer',
      'Boolean',
      'Number',
      'String',
      'Blob',
      'Promise',
      'Error',
    ].flatMap((name): Case[] => [
      [`of an object that says to be a ${name}`, clones(`{ a: 1, [Symbol.toStringTag]: '${name}' }`)],
      [
        `of an instance that says to be a ${name}`,
        `class One { a = 1; get [Symbol.toStringTag]() { return '${name}' } }; ${clones('new One()')}`,
      ],
    ]),
    [
      'of objects that only inherit from built-in ones',
      each(
        ['Date', 'RegExp', 'Map', 'Set', 'ArrayBuffer', 'Boolean', 'Number', 'String', 'Blob', 'File', 'Error'].map(
          (name) => `structuredClone(Object.assign(Object.create(${name}.prototype), { a: 1 }))`,
        ),
      ),
    ],
    [
      'of built-in objects that say to be others',
      each(
        ['new Date(7)', 'new Map([[1, 2]])', 'new Set([1])', '/a/g', 'new ArrayBuffer(2)', 'Object("a")'].map(
          (value) =>
            `(() => { const value = ${value}; Object.defineProperty(value, Symbol.toStringTag, { value: 'Other' }); const copy = structuredClone(value); return [copy.constructor.name, copy instanceof value.constructor] })()`,
        ),
      ),
    ],
    [
      'of instances of classes that extend built-in ones',
      each(
        ['Date', 'Map', 'Set', 'Array', 'Error', 'Uint8Array'].map(
          (name) =>
            `(() => { class Mine extends ${name} { own = 1 }; const copy = structuredClone(new Mine()); return [copy.constructor.name, 'own' in copy] })()`,
        ),
      ),
    ],
    [
      'of what is more than data',
      each([
        'structuredClone(new WeakMap())',
        'structuredClone(new WeakSet())',
        'structuredClone(new WeakRef({}))',
        'structuredClone(Promise.resolve())',
        'structuredClone((function* () {})())',
        'structuredClone((async function* () {})())',
        'structuredClone(new Map().entries())',
        'structuredClone(new Set().values())',
        'structuredClone([].keys())',
        'structuredClone(Object(Symbol()))',
        'structuredClone(new URL("https://a.example"))',
        'structuredClone(new URLSearchParams())',
        'structuredClone(new Headers())',
        'structuredClone(new FormData())',
        'structuredClone(new Response())',
        'structuredClone(new Request("https://a.example"))',
        'structuredClone(new ReadableStream())',
        'structuredClone(new WritableStream())',
      ]),
    ],
    [
      'of blobs and files',
      `const blob = structuredClone(new Blob(['é'], { type: 'a/b' })); const file = structuredClone({ file: new File(['x'], 'n', { lastModified: 7 }) }).file
      return [blob instanceof Blob, blob instanceof File, blob.type, await blob.text(), file instanceof File, file.name, file.lastModified, await file.text()]`,
    ],
    [
      'of errors whose message is no data',
      `const error = new Error('a'); Object.defineProperty(error, 'message', { get: () => 'b' }); return structuredClone(error).message`,
    ],
    [
      'of errors with a name of their own',
      each([
        '(() => { const error = new RangeError("a"); error.name = "Mine"; return structuredClone(error).name })()',
        '(() => { const error = new Error("a"); error.name = "TypeError"; return structuredClone(error) instanceof TypeError })()',
      ]),
    ],
    [
      'with options that are none',
      each([
        'structuredClone(1, 5)',
        'structuredClone(1, null)',
        'structuredClone(1, {})',
        'structuredClone(1, { transfer: [1] })',
        '(() => { const buffer = new ArrayBuffer(1); return structuredClone(1, { transfer: [buffer, buffer] }) })()',
      ]),
    ],
    [
      'of what is there twice',
      `const shared = new Date(1); const copy = structuredClone({ a: shared, b: [shared], map: new Map([[shared, shared]]) }); return [copy.a === copy.b[0], copy.map.get(copy.a) === copy.a]`,
    ],
  ])
})

describe('EventTarget and Event do what they do in Node', () => {
  testAsInNode(sandbox, [
    [
      'without arguments',
      each([
        'new Event()',
        'new EventTarget().addEventListener("a")',
        'new EventTarget().removeEventListener("a")',
        'new EventTarget().dispatchEvent()',
        'new EventTarget().dispatchEvent({ type: "a" })',
      ]),
    ],
    [
      'with types of any kind',
      each(['new Event(undefined).type', 'new Event(null).type', 'new Event(12).type', 'new Event(Symbol()).type']),
    ],
    [
      'with options that are none',
      each([
        'new Event("a", 5)',
        'new Event("a", null).type',
        'new Event("a", { bubbles: 1, cancelable: "x" }).cancelable',
      ]),
    ],
    [
      'with listeners that can be none',
      each([
        'new EventTarget().addEventListener("a", undefined)',
        'new EventTarget().addEventListener("a", 5)',
        'new EventTarget().addEventListener("a", "b")',
        'new EventTarget().removeEventListener("a", null)',
      ]),
    ],
    [
      'with a signal that is none',
      each([
        'new EventTarget().addEventListener("a", () => {}, { signal: null })',
        'new EventTarget().addEventListener("a", () => {}, { signal: 1 })',
        'new EventTarget().addEventListener("a", () => {}, { signal: {} })',
      ]),
    ],
    [
      'a signal that is aborted already',
      `const target = new EventTarget(); let heard = 0; target.addEventListener('a', () => { heard += 1 }, { signal: AbortSignal.abort() }); target.dispatchEvent(new Event('a')); return heard`,
    ],
    [
      'the same listener, captured and not',
      `const target = new EventTarget(); let heard = 0; const listener = () => { heard += 1 }; target.addEventListener('a', listener, true); target.addEventListener('a', listener, { capture: false }); target.dispatchEvent(new Event('a')); target.removeEventListener('a', listener, { capture: true }); target.dispatchEvent(new Event('a')); return heard`,
    ],
    [
      'a listener that removes a later one',
      `const target = new EventTarget(); const heard = []; const later = () => heard.push(2); target.addEventListener('a', () => { heard.push(1); target.removeEventListener('a', later) }); target.addEventListener('a', later); target.dispatchEvent(new Event('a')); return heard`,
    ],
    [
      'a listener that hears once and dispatches again',
      `const target = new EventTarget(); let heard = 0; target.addEventListener('a', () => { heard += 1; target.dispatchEvent(new Event('a')) }, { once: true }); target.dispatchEvent(new Event('a')); return heard`,
    ],
    [
      'an object whose handleEvent comes later',
      `const target = new EventTarget(); const one = {}; target.addEventListener('a', one); let heard = 0; one.handleEvent = () => { heard += 1 }; target.dispatchEvent(new Event('a')); return heard`,
    ],
    [
      'an event that is dispatched twice',
      `const [one, other] = [new EventTarget(), new EventTarget()]; const event = new Event('a', { cancelable: true }); one.addEventListener('a', (given) => given.preventDefault()); return [one.dispatchEvent(event), other.dispatchEvent(event), event.target === other, event.defaultPrevented]`,
    ],
    [
      'what is left of an event',
      `const event = new Event('a'); const target = new EventTarget(); target.addEventListener('a', (given) => given.stopImmediatePropagation()); target.dispatchEvent(event); return [event.eventPhase, event.currentTarget, event.composedPath(), event.target === target, event.srcElement === target]`,
    ],
    [
      'what was in the web before',
      `const event = new Event('a', { cancelable: true }); const before = [event.returnValue, event.cancelBubble]; event.preventDefault(); event.stopPropagation(); return [before, event.returnValue, event.cancelBubble, Event.NONE, Event.AT_TARGET]`,
    ],
    [
      'the time of an event',
      `const { timeStamp } = new Event('a'); return timeStamp >= 0 && timeStamp <= performance.now()`,
    ],
    ['their tags', `return [String(new EventTarget()), String(new Event('a')), String(new CustomEvent('a'))]`],
    [
      'members that belong to the prototype',
      `return ['type', 'target', 'timeStamp', 'defaultPrevented'].map((name) => [Object.hasOwn(new Event('a'), name), name in Event.prototype])`,
    ],
  ])
})

describe('AbortSignal.any does what it does in Node', () => {
  testAsInNode(sandbox, [
    [
      'tells in the order in which the signals were made',
      `const controller = new AbortController(); const all = [controller.signal]; for (const from of [0, 0, 1, 2]) all.push(AbortSignal.any([all[from]]))
      const heard = []; for (const index of [0, 1, 2, 3, 4]) all[index].addEventListener('abort', () => heard.push(index)); controller.abort(); return heard`,
    ],
    [
      'is aborted before anybody is told',
      `const controller = new AbortController(); const any = AbortSignal.any([controller.signal]); const other = AbortSignal.any([any]); let seen; controller.signal.onabort = () => { seen = [any.aborted, other.aborted, any.reason] }; controller.abort('why'); return seen`,
    ],
    [
      'tells once',
      `const [one, other] = [new AbortController(), new AbortController()]; const any = AbortSignal.any([one.signal, other.signal, one.signal]); let heard = 0; any.onabort = () => { heard += 1 }; one.abort(); other.abort(); return heard`,
    ],
    [
      'tells nobody who does not listen any more',
      `const controller = new AbortController(); const any = AbortSignal.any([controller.signal]); let heard = 0; const listener = () => { heard += 1 }; any.addEventListener('abort', listener); any.removeEventListener('abort', listener); controller.abort(); return [heard, any.aborted]`,
    ],
    [
      'of a signal of the clock',
      `const any = AbortSignal.any([AbortSignal.timeout(2)]); await new Promise((resolve) => { any.onabort = resolve }); return any.reason.name`,
    ],
    [
      'within a request',
      `const controller = new AbortController(); const { signal } = new Request('https://a.example', { signal: controller.signal }); const before = signal.aborted; controller.abort('why'); return [signal === controller.signal, before, signal.aborted, signal.reason]`,
    ],
    [
      'is no member of a controller that can be replaced',
      `'use strict'; const controller = new AbortController(); try { controller.signal = 1 } catch (error) { return error.name }`,
    ],
  ])

  test('keeps no signal without listeners in memory', async () => {
    const code = `exports.handler = async () => {
      const controller = new AbortController()
      for (let count = 0; count < 400; count += 1) {
        const signal = AbortSignal.any([controller.signal])
        signal.large = new Array(100_000).fill(count)
        const listener = () => {}
        signal.addEventListener('abort', listener)
        signal.removeEventListener('abort', listener)
      }
      return 'all of them'
    }`
    const limits = { cpuMilliseconds: 15_000, wallMilliseconds: 60_000 }
    expect(done(await sandbox().run(callRun(bot(code), {}, { limits }))).result).toBe('all of them')
  })
})

describe('Request, Headers, Blob and URLSearchParams take what they take in Node', () => {
  testAsInNode(sandbox, [
    [
      'a request without options',
      `const { mode, credentials, cache, referrer, referrerPolicy, integrity, keepalive, destination, duplex } = new Request('https://a.example'); return { mode, credentials, cache, referrer, referrerPolicy, integrity, keepalive, destination, duplex }`,
    ],
    [
      'a request with all of them',
      `const one = ${made(`{ mode: 'same-origin', credentials: 'omit', cache: 'no-store', referrerPolicy: 'origin', integrity: 'sha256-x', keepalive: true, referrer: '' }`)}
      const read = ({ mode, credentials, cache, referrer, referrerPolicy, integrity, keepalive }) => ({ mode, credentials, cache, referrer, referrerPolicy, integrity, keepalive }); return [read(one), read(one.clone()), read(new Request(one, { credentials: 'include' }))]`,
    ],
    [
      'options that there are not',
      each(
        ['mode', 'credentials', 'cache', 'referrerPolicy', 'redirect', 'duplex'].map((name) =>
          made(`{ ${name}: 'other' }`),
        ),
      ),
    ],
    [
      'the option by which libraries find out whether a body can be a stream',
      `let isRead = false
      const options = { method: 'POST', body: new ReadableStream(), get duplex() { isRead = true; return 'half' } }
      return [new Request('https://a.example', options).headers.has('content-type'), isRead]`,
    ],
    [
      'modes that are not for requests',
      each([
        made(`{ mode: 'navigate' }`),
        made(`{ cache: 'only-if-cached' }`),
        made(`{ cache: 'only-if-cached', mode: 'same-origin' }`) + '.cache',
        made(`{ window: 1 }`),
        made(`{ window: null }`) + '.mode',
      ]),
    ],
    ['options that are none', each([made('5'), made('null') + '.mode', `new Request()`])],
    [
      'headers whose name is a symbol',
      each([
        `new Headers({ [Symbol('a')]: '1' })`,
        `new Headers({ [Symbol.iterator]: undefined, a: '1' })`,
        `new Headers().append(Symbol('a'), 'b')`,
        `new Headers().set('a', Symbol('b'))`,
      ]),
    ],
    [
      'headers of other lists',
      each([
        `[...new Headers([new Set(['a', 'b'])])]`,
        `[...new Headers([['a', undefined]])]`,
        `new Headers([[]])`,
        `new Headers(['ab'])`,
        `new Headers(null)`,
        `new Headers([null])`,
        `[...new Headers({})]`,
      ]),
    ],
    [
      'headers that are inherited',
      `return [...new Headers(Object.create({ inherited: '1' }, { shown: { value: '3', enumerable: true } }))]`,
    ],
    [
      'headers while they are read',
      `const headers = new Headers({ a: '1', c: '3' }); const seen = []; for (const [name] of headers) { seen.push(name); if (name === 'a') headers.set('b', '2') } return seen`,
    ],
    [
      'queries of undefined',
      each([
        `String(new URLSearchParams([['a', undefined]]))`,
        `String(new URLSearchParams({ a: undefined }))`,
        `String(new URLSearchParams(undefined))`,
        `String(new URLSearchParams(null))`,
      ]),
    ],
    [
      'queries of other lists',
      each([
        `String(new URLSearchParams([new Set(['a', 'b'])]))`,
        `String(new URLSearchParams([['a']]))`,
        `String(new URLSearchParams([['a', 'b', 'c']]))`,
        `String(new URLSearchParams([[]]))`,
        `String(new URLSearchParams([5]))`,
        `String(new URLSearchParams(5))`,
      ]),
    ],
    [
      'queries whose name is a symbol',
      each([`new URLSearchParams({ [Symbol('a')]: '1' })`, `new URLSearchParams([[Symbol('a'), '1']])`]),
    ],
    [
      'the line ends of a blob',
      each([
        `new Blob(['a\\r\\nb\\nc\\rd\\n'], { endings: 'native' }).text()`,
        `new Blob(['a\\r\\nb\\rc'], { endings: 'transparent' }).text()`,
        `new Blob(['a\\r\\nb\\rc'], { endings: undefined }).text()`,
        `new Blob([new TextEncoder().encode('a\\r\\nb')], { endings: 'native' }).text()`,
        `new Blob([], { endings: 'other' })`,
        `new File(['a\\r\\n'], 'n', { endings: 'native' }).size`,
      ]),
    ],
    [
      'options of a blob that are none',
      each([
        `new Blob([], 5)`,
        `new Blob([], null).size`,
        `new Blob(null)`,
        `new Blob('a')`,
        `new Blob({})`,
        `new Blob(undefined).size`,
      ]),
    ],
  ])
})

describe('forms are read as in Node', () => {
  const dispositions = [
    'name=a',
    'name="a"; filename=b.txt',
    'name="a\\"b"',
    'name="a%22b%0D%0A"',
    'filename="x"; name="y"',
    'name=""',
    'name=a; filename=""',
    'NAME=a',
    'name="a;b=c"',
    'name="a"; filename="b; name=c"',
    'filename=x',
  ]
  testAsInNode(
    sandbox,
    dispositions.map((disposition): Case => [
      disposition,
      `const body = '--b\\r\\nContent-Disposition: form-data; ' + ${JSON.stringify(disposition)} + '\\r\\n\\r\\nvalue\\r\\n--b--\\r\\n'
    const form = await new Response(body, { headers: { 'content-type': 'multipart/form-data; boundary=b' } }).formData()
    return Array.from(form, ([name, value]) => [name, typeof value === 'string' ? value : [value.name, value.type]])`,
    ]),
  )
})

/** Numbers that look random and are the same in each run. */
function sequence(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** URLs put together of parts that a parser may stumble over, and half of them with a base. */
function generateUrls(count: number): [url: string, base?: string][] {
  const next = sequence(20_261_122)
  const one = (parts: readonly string[]) => parts[next(parts.length)]!
  const some = (parts: readonly string[], most: number) =>
    Array.from({ length: next(most + 1) }, () => one(parts)).join('')
  const schemes = [
    'http:',
    'https:',
    'HTTPS:',
    'ws:',
    'wss:',
    'ftp:',
    'file:',
    'data:',
    'blob:',
    'mailto:',
    'x-y+z.1:',
    'javascript:',
    '1a:',
    '',
    '',
    ':',
  ]
  const slashes = ['//', '//', '//', '/', '', '///', '\\\\', '/\\', '\t//']
  const users = ['', '', '', 'u@', 'u:p@', ':p@', 'u:@', '@', 'a%40b:ü@', 'a@b@']
  const hosts = [
    'example.com',
    'EXAMPLE.com.',
    'a_b',
    '',
    '.',
    'a..b',
    '127.1',
    '0x7f.0.0.1',
    '1.2.3.256',
    '256',
    '0',
    '1.2.3.4.5',
    '09.1',
    '0x',
    '[::1]',
    '[1:2:3:4:5:6:7:8]',
    '[::ffff:1.2.3.4]',
    '[1::2::3]',
    '[::1',
    '[::1%25a]',
    'ex%41mple',
    'a%00b',
    'a b',
    'a<b',
    'a^b',
    'bücher.example',
    'xn--bcher-kva',
    '日本',
    'ﬀ.example',
    'a\u00adb',
    '%zz',
    'c:',
    'c|',
  ]
  const ports = ['', '', '', ':', ':80', ':443', ':0', ':65535', ':65536', ':8a', ':008', ':-1', ': 1']
  const segments = [
    '/',
    '/',
    '/a',
    '/.',
    '/..',
    '/%2e',
    '/%2E%2e',
    '/%2f',
    '/ ',
    '/"<>`',
    '/{}|^',
    "/'",
    '\\',
    '/é',
    '/😀',
    '/\ud800',
    '/C:',
    '/c|',
    '/a;b=c',
    '/@:',
    '/%',
    '/\n',
    '/..a',
    '/\u007f',
    '/~',
  ]
  const queries = ['', '', '?', '?a=b', '?é', '?\'"<>', '? #', '?\ud800', '?%zz', '?a?b', '?\u0000']
  const fragments = ['', '', '#', '#f', '#é `', '##', '#\ud800', '#"<>']
  const whole = () =>
    one(['', '', '', '', ' ', '\u0000']) +
    one(schemes) +
    one(slashes) +
    one(users) +
    one(hosts) +
    one(ports) +
    some(segments, 4) +
    one(queries) +
    one(fragments) +
    one(['', '', ' '])
  const relative = () =>
    one(['', one(slashes), one(segments).slice(1), one(schemes)]) + some(segments, 3) + one(queries) + one(fragments)
  const bases = [
    'http://u:p@example.com:81/a/b/c?q#f',
    'file:///C:/d/e',
    'file://host/x',
    'data:text/plain,a',
    'mailto:a@b',
    'x-y://h/p/q?r',
    'x-y:/p/q',
    'https://example.com',
    'blob:https://a.example/b',
    'none',
  ]
  return Array.from({ length: count }, (_, index) => (index % 2 === 0 ? [whole()] : [relative(), one(bases)]))
}

const partsOfUrls = [
  'href',
  'origin',
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
]

test('URLs of all kinds of parts come apart as in Node', async () => {
  const urls = generateUrls(6000)
  const read = `const read = ([url, base]) => { try { const parsed = new URL(url, base); return ${JSON.stringify(partsOfUrls)}.map((name) => parsed[name]) } catch (error) { return error.name } }`
  const body = `${read}; return ${JSON.stringify(urls)}.map(read)`
  const [inside, inNode] = (await inBoth(sandbox(), body)) as [Json[], Json[]]
  const different = urls.flatMap((url, index) => {
    const [ours, theirs] = [inside[index], inNode[index]].map((result) => JSON.stringify(result))
    return ours === theirs ? [] : [{ url, ours, theirs }]
  })
  expect(different).toEqual([])
  // Had the parts been chosen badly, all of them would be refused.
  expect(inNode.filter((result) => typeof result !== 'string').length).toBeGreaterThan(2000)
})

test('setters of a URL change it as in Node', async () => {
  const next = sequence(7)
  const urls = generateUrls(1500).map((url) => {
    const name = partsOfUrls.filter((part) => part !== 'origin')[next(10)]!
    const value = [
      '',
      'a',
      ':',
      '/',
      '//',
      '#',
      '?',
      '@',
      'b:80',
      '99999',
      '8080x',
      'é',
      ' x ',
      'file',
      'https:',
      '[::1]',
      '127.1',
      '\\',
      '%zz',
      '..',
      'http://z',
    ][next(21)]!
    return [url, name, value] as const
  })
  const change = `const change = ([[url, base], name, value]) => { const parsed = URL.parse(url, base); if (parsed === null) return null; try { parsed[name] = value } catch (error) { return error.name }; return [parsed.href, String(parsed.searchParams), parsed.host] }`
  const [inside, inNode] = (await inBoth(sandbox(), `${change}; return ${JSON.stringify(urls)}.map(change)`)) as [
    Json[],
    Json[],
  ]
  const different = urls.flatMap((url, index) => {
    const [ours, theirs] = [inside[index], inNode[index]].map((result) => JSON.stringify(result))
    return ours === theirs ? [] : [{ url, ours, theirs }]
  })
  expect(different).toEqual([])
})

/** Where Node is followed no further: the beginning of the page's row, what shows it, and what comes of it here. */
const deviations: [row: string, body: string, here: Json][] = [
  ['A `Proxy` is cloned', `return structuredClone(new Proxy({ a: 1 }, {}))`, { a: 1 }],
  ['The object `arguments` is cloned', `return (function () { return structuredClone(arguments) })(1)`, { 0: 1 }],
  [
    'Buffers that are listed for transfer are copied',
    `const buffer = new ArrayBuffer(2); structuredClone(buffer, { transfer: [buffer] }); return buffer.byteLength`,
    2,
  ],
  [
    'A `DecompressionStream` does not verify checksums',
    `const bytes = new Uint8Array(await new Response(new Blob(['abc']).stream().pipeThrough(new CompressionStream('gzip'))).arrayBuffer()); bytes[bytes.length - 8] ^= 1; return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text()`,
    'abc',
  ],
  [
    'A built-in object whose prototype was replaced',
    `return structuredClone(Object.setPrototypeOf(new Date(0), null)) instanceof Date`,
    false,
  ],
  [
    'An object that only inherits from `Promise`',
    `return structuredClone(Object.create(Promise.prototype))`,
    '<threw DataCloneError 25>',
  ],
  [
    'A `CryptoKey` is not cloned',
    `const key = await crypto.subtle.importKey('raw', new Uint8Array(16), 'AES-CBC', true, ['encrypt']); return structuredClone(key).type`,
    '<threw DataCloneError 25>',
  ],
  [
    'Events, targets, signals and decoders are not cloned',
    `return structuredClone(new Event('a'))`,
    '<threw DataCloneError 25>',
  ],
  [
    'Capturing listeners of a target are called before the others',
    `const target = new EventTarget(); const heard = []; target.addEventListener('a', () => heard.push(1)); target.addEventListener('a', () => heard.push(2), true); target.dispatchEvent(new Event('a')); return heard`,
    [2, 1],
  ],
  [
    '`AbortSignal.any` has the reason of the signal that was aborted first',
    `const [one, other] = [new AbortController(), new AbortController()]; const any = AbortSignal.any([other.signal, one.signal]); one.abort('first'); other.abort('second'); return any.reason`,
    'first',
  ],
  [
    'Signals of `AbortSignal.any` dispatch in the order of their creation',
    `const controller = new AbortController(); const heard = []; const all = [1, 2].map(() => AbortSignal.any([controller.signal])); for (const index of [1, 0]) all[index].onabort = () => heard.push(index); controller.abort(); return heard`,
    [0, 1],
  ],
  [
    '`filename*` of a part of a form is ignored',
    `const body = '--b\\r\\ncontent-disposition: form-data; name="a"; filename*=utf-8\\'\\'b\\r\\n\\r\\nvalue\\r\\n--b--\\r\\n'
    return (await new Response(body, { headers: { 'content-type': 'multipart/form-data; boundary=b' } }).formData()).get('a') instanceof File`,
    false,
  ],
  [
    '`new Headers` reads the enumerable properties',
    `return [...new Headers(Object.create(null, { hidden: { value: '2' } }))]`,
    [],
  ],
  [
    'A request that is made from another without options',
    `return new Request(new Request('https://a.example', { referrerPolicy: 'origin' })).referrerPolicy`,
    'origin',
  ],
  [
    '`TextDecoder` decodes UTF-8, UTF-16 and windows-1252',
    `return new TextDecoder('shift_jis').encoding`,
    '<threw RangeError>',
  ],
  ['Host names in right-to-left scripts', `return URL.canParse('https://\u05d0a.example')`, true],
  ['The method `patch` is `PATCH`', `return new Request('https://a.example', { method: 'patch' }).method`, 'PATCH'],
  [
    'Properties of a request or a response are its own',
    `return Object.hasOwn(new Request('https://a.example'), 'url')`,
    true,
  ],
]

const pagePath = join(import.meta.dirname, '..', '..', '..', 'docs', 'web-platform.md')

describe('the page of differences', () => {
  test.each(deviations)('has a row for each: %s', async (row, body, here) => {
    expect(await readFile(pagePath, 'utf8')).toContain(`\n| ${row}`)
    const [inside, inNode] = await inBoth(sandbox(), body)
    expect(inside).toEqual(here)
    expect(inNode).not.toEqual(here)
  })

  test('names each global of Node that is not there', async () => {
    const page = await readFile(pagePath, 'utf8')
    const names = Object.getOwnPropertyNames(globalThis).filter((name) => /^[A-Z]|^(navigator|reportError)$/.test(name))
    const known = names.filter((name) => !/^(VITE|__)/.test(name))
    const [found] = await inBoth(
      sandbox(),
      `globalThis; return ${JSON.stringify(known)}.filter((name) => name in globalThis)`,
    )
    expect(known.filter((name) => !(found as string[]).includes(name) && !page.includes(`\`${name}\``))).toEqual([])
  })
})

describe('mistakes that web-platform tests have found are gone: as in Node', () => {
  testAsInNode(sandbox, [
    [
      'parts of blobs between fractions of a byte',
      `const blob = new Blob(['abcdef']); return [await blob.slice(0, 2.5).text(), await blob.slice(0.5, 1.5).text(), await blob.slice(1.5, 3.5).text(), await blob.slice(-2.5).text(), await blob.slice(NaN, '3').text()]`,
    ],
    ['line endings by an object', `return new Blob(['a\\r\\n'], { endings: { toString: () => 'native' } }).text()`],
    [
      'listeners that are called once, after a dispatch that was stopped before them',
      `const target = new EventTarget(); const heard = []
      for (const name of ['a', 'b', 'c']) target.addEventListener('x', (event) => { heard.push(name); event.stopImmediatePropagation() }, { once: true })
      for (let count = 0; count < 4; count += 1) target.dispatchEvent(new Event('x'))
      return heard`,
    ],
    [
      'the codes of exceptions',
      `return [DOMException, DOMException.prototype].map((one) => Object.keys(one).filter((key) => key.endsWith('_ERR')).map((key) => [key, one[key]]))`,
    ],
    [
      'the names of headers of a form’s parts',
      `const form = new FormData(); form.append('a', '1'); form.append('b', new File(['2'], 'c.txt', { type: 'text/plain' })); const response = new Response(form)
      const [, boundary] = response.headers.get('content-type').split('boundary='); return (await response.text()).replaceAll(boundary, 'boundary').trimEnd()`,
    ],
    [
      'parameters whose names are the same without lone surrogates',
      `return String(new URLSearchParams({ '\\uD835x': '1', b: '2', '\\uD83Dx': '3' }))`,
    ],
    [
      'bodies that have been read',
      `const results = []
      for (const content of ['text', '', new Blob(['blob']), new ReadableStream({ type: 'bytes', start: (controller) => controller.close() })]) {
        const response = new Response(content); await response.text()
        results.push([response.bodyUsed, response.body instanceof ReadableStream, response.body === response.body])
      }
      const response = new Response('a'); await response.text()
      return [results, response.body.locked, new Response().body]`,
    ],
    [
      'a request whose body went into another one',
      `const one = new Request('https://a.example', { method: 'POST', body: 'a' }); const { body } = one; const other = new Request(one); return [one.bodyUsed, one.body !== null, other.body !== one.body, await other.text()]`,
    ],
    [
      'types of data URLs',
      each(
        [
          'data:,a',
          'data:IMAGE/Gif;Charset=X,a',
          'data:;charset=utf-8,a',
          'data:text/plain;,a',
          'data:none,a',
          'data:text/html ;a="b c";a=d; e =f,a',
          'data:a/b; base64 ,YQ==',
          'data:;base64;x,YQ',
        ].map(
          (url) =>
            `fetch(${JSON.stringify(url)}).then(async (response) => [response.status, response.statusText, response.headers.get('content-type'), await response.text()])`,
        ),
      ),
    ],
    [
      'types of blobs of responses',
      each(
        ['text/html; charset=utf-8', 'TEXT/Plain;a="b c"', 'none', 'application/json', 'a/b;c="d\\\\"e'].map(
          (type) =>
            `new Response('a', { headers: { 'content-type': ${JSON.stringify(type)} } }).blob().then((blob) => blob.type)`,
        ),
      ),
    ],
    [
      'chunks of a stream of texts that are missing',
      `const { writable, readable } = new TextDecoderStream(); readable.getReader().read().catch(() => {}); return writable.getWriter().write(undefined)`,
    ],
    [
      'a mark with options that are none',
      each(['5', '"a"', 'null', '{}'].map((options) => `performance.mark('a', ${options}).name`)),
    ],
    [
      'the tags of a timeline’s entries',
      `return [String(performance.mark('a')), String(performance.measure('b', 'a'))]`,
    ],
  ])
})
