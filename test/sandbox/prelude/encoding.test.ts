import { describe } from 'vitest'
import { sandboxOfFile, testAsInNode, type Case } from './compare.ts'

const sandbox = sandboxOfFile()

/** Bytes that are UTF-8 or UTF-16, or neither, in hexadecimal. */
const sequences = [
  '',
  '41',
  'c3a9',
  'e282ac',
  'f09f9880',
  'efbbbf41',
  'efbbbfefbbbf41',
  '41efbbbf',
  'c3',
  'c341',
  'e282',
  'e28241',
  'f09f98',
  'f09f9841',
  '80',
  'bf80',
  'c080',
  'c1bf',
  'e08080',
  'e09fbf',
  'e0a080',
  'eda080',
  'ed9fbf',
  'eda0bdedb880',
  'f0808080',
  'f08fbfbf',
  'f0908080',
  'f48fbfbf',
  'f4908080',
  'f5808080',
  'ff',
  'fe41',
  'efbfbe',
  'efbf',
  '00',
  '6100c3a9e282acf09f988062',
  'fffe4100',
  'feff0041',
  'fffefffe',
  '410042',
  '3dd800de',
  'd83dde00',
  '00de3dd8',
  '3dd84100',
  '41003dd8',
  'd83d0041',
  '3dd83dd800de00de',
  '808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0ff',
]

const encodings = ['utf-8', 'utf-16le', 'utf-16be', 'latin1']

const bytes = `const bytes = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (digits) => parseInt(digits, 16));`
/** Of encodings other than UTF-8. */
const labels = (
  'windows-1252 ANSI_X3.4-1968 ascii cp1252 cp819 csISOLatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 ' +
  'iso_8859-1:1987 l1 latin1 us-ascii x-cp1252 ' +
  'utf-16le csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16be unicodefffe'
).split(' ')
const encode = `const encode = (value) => [...new TextEncoder().encode(value)];`

describe.each(encodings)('TextDecoder decodes %s as in Node', (encoding) => {
  testAsInNode(
    sandbox,
    sequences.map((hex): Case => {
      const body = `${bytes} const given = bytes('${hex}'); const make = (options) => new TextDecoder('${encoding}', options)
        const decoded = (options) => { try { return make(options).decode(given) } catch (error) { return error.name } }
        const byteByByte = (options) => { const decoder = make(options); let text = ''; for (const byte of given) text += decoder.decode(Uint8Array.of(byte), { stream: true }) + '|'; return text + decoder.decode() }
        const strictly = () => { try { return byteByByte({ fatal: true }) } catch (error) { return error.name } }
        return [decoded(), decoded({ fatal: true }), decoded({ ignoreBOM: true }), decoded({ fatal: true, ignoreBOM: true }), byteByByte(), strictly()]`
      return [`the bytes ${hex || 'that are none'}`, body]
    }),
  )
})

describe('TextDecoder', () => {
  testAsInNode(sandbox, [
    ...['utf-8', 'UTF8', ' utf-8 ', 'unicode-1-1-utf-8', 'utf', 'nothing', '', ...labels].map((label): Case => [
      `with the label '${label}'`,
      `return new TextDecoder(${JSON.stringify(label)}).encoding`,
    ]),
    [
      'has options',
      `const { fatal, ignoreBOM, encoding } = new TextDecoder(undefined, { fatal: 1, ignoreBOM: 'x' }); return [fatal, ignoreBOM, encoding]`,
    ],
    ['decodes an ArrayBuffer', `return new TextDecoder().decode(Uint8Array.of(65, 66).buffer)`],
    [
      'decodes a part of a buffer',
      `return new TextDecoder().decode(new DataView(Uint8Array.of(65, 66, 67).buffer, 1, 1))`,
    ],
    ['decodes words', `return new TextDecoder().decode(Uint16Array.of(0x4241))`],
    ['decodes nothing', `return new TextDecoder().decode()`],
    ['refuses a text', `return new TextDecoder().decode('a')`],
    ['refuses a list', `return new TextDecoder().decode([65])`],
    [
      'goes on after an error',
      `const decoder = new TextDecoder('utf-8', { fatal: true }); try { decoder.decode(Uint8Array.of(255)) } catch {} return decoder.decode(Uint8Array.of(65))`,
    ],
    [
      'begins again after the end',
      `const decoder = new TextDecoder(); return [decoder.decode(Uint8Array.of(0xe2, 0x82), { stream: true }), decoder.decode(), decoder.decode(Uint8Array.of(0xac))]`,
    ],
    [
      'takes the mark of each text',
      `const decoder = new TextDecoder(); const marked = Uint8Array.of(0xef, 0xbb, 0xbf, 65); return [decoder.decode(marked).length, decoder.decode(marked).length]`,
    ],
    [
      'takes a mark that comes in parts',
      `const decoder = new TextDecoder(); return [0xef, 0xbb, 0xbf, 65].map((byte) => decoder.decode(Uint8Array.of(byte), { stream: true })).join('|')`,
    ],
    [
      'decodes long texts of UTF-16',
      `const text = 'a😀'.repeat(20_000); const bytes = new Uint8Array(text.length * 2); for (let index = 0; index < text.length; index += 1) { bytes[index * 2] = text.charCodeAt(index) & 255; bytes[index * 2 + 1] = text.charCodeAt(index) >> 8 } return new TextDecoder('utf-16le', { fatal: true }).decode(bytes) === text`,
    ],
    ['has a tag', `return [String(new TextDecoder()), String(new TextEncoder())]`],
  ])
})

describe('TextEncoder', () => {
  testAsInNode(sandbox, [
    ...[
      '',
      'a',
      'é',
      '€',
      '😀',
      '\ud800',
      '\udc00',
      '\ud800a',
      'a\udc00\ud800',
      '\ud83d\ud83d\ude00',
      '\0\x7f\x80\u07ff\u0800\uffff',
    ].map((given): Case => [`encodes ${JSON.stringify(given)}`, `${encode} return encode(${JSON.stringify(given)})`]),
    ['encodes nothing', `return [...new TextEncoder().encode()]`],
    ['encodes undefined, null and numbers', `${encode} return [encode(undefined), encode(null), encode(12)]`],
    ['makes a Uint8Array', `return new TextEncoder().encode('a') instanceof Uint8Array`],
    ...[0, 1, 2, 3, 4, 5, 6, 10].map((length): Case => [
      `encodes into ${length} bytes`,
      `const target = new Uint8Array(${length}).fill(9); return [new TextEncoder().encodeInto('aé€😀', target), target]`,
    ]),
    [
      'encodes into a part of a buffer',
      `const buffer = new Uint8Array(6); const result = new TextEncoder().encodeInto('abc', buffer.subarray(2, 4)); return [result, buffer]`,
    ],
    [
      'encodes half a pair into bytes',
      `const target = new Uint8Array(5); return [new TextEncoder().encodeInto('\\ud800a', target), target]`,
    ],
    ['encodes into no list', `return new TextEncoder().encodeInto('a', [])`],
    ['has an encoding', `return new TextEncoder().encoding`],
  ])
})

describe('base64 is as in Node', () => {
  testAsInNode(sandbox, [
    ...['', 'a', 'ab', 'abc', 'abcd', '\0\xff', '€', 'ä'].map((given): Case => [
      `btoa of ${JSON.stringify(given)}`,
      `return btoa(${JSON.stringify(given)})`,
    ]),
    ['btoa of other values', `return [btoa(undefined), btoa(null), btoa(12), btoa({})]`],
    ['btoa without a value', `return btoa()`],
    ...[
      '',
      'YQ==',
      'YQ=',
      'YQ',
      'Y',
      'YWI=',
      'YWJj',
      ' YW Jj\n',
      'YW-_',
      'YW+/',
      '=',
      '====',
      'YQ==YQ==',
      'YQ===',
      'Y===',
      'YR==',
      'YWI',
      'ab\0c',
      'äbcd',
      '//79',
    ].map((given): Case => [`atob of ${JSON.stringify(given)}`, `return atob(${JSON.stringify(given)})`]),
    ['atob of other values', `return [atob(null), atob(1234)]`],
    ['atob without a value', `return atob()`],
    [
      'there and back',
      `let text = ''; for (let code = 0; code < 256; code += 1) text += String.fromCharCode(code); return [btoa(text), atob(btoa(text)) === text]`,
    ],
  ])
})

describe('structuredClone copies as in Node', () => {
  testAsInNode(sandbox, [
    ...[
      'undefined',
      'null',
      'true',
      '-0',
      'NaN',
      '10n',
      `'a\\ud800'`,
      `new Date(5).getTime()`,
      '[1, , 3]',
      `({ a: { b: [1] }, get c() { return 2 } })`,
      `Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true }, hidden: { value: 3 } })`,
      `Object.assign([1], { extra: 2 })`,
      `Object.assign(Object.create(null), { a: 1 })`,
      `({ [Symbol('x')]: 1, a: 2 })`,
      `new (class Point { x = 1; #y = 2; get z() { return 3 } })()`,
    ].map((value): Case => [
      value,
      `const copy = structuredClone(${value}); return [copy, typeof copy, copy?.constructor?.name]`,
    ]),
    ...[
      `() => {}`,
      `Symbol('x')`,
      `({ deep: [Symbol.iterator] })`,
      `new WeakMap()`,
      `new WeakRef({})`,
      `Promise.resolve()`,
      `(function* () {})()`,
      `new Map([[() => {}, 1]])`,
      `Object(Symbol('x'))`,
    ].map((value): Case => [`and not ${value}`, `return structuredClone(${value})`]),
    [
      'keys that are the prototype’s',
      `const copy = structuredClone(JSON.parse('{"__proto__":{"a":1}}')); return [Object.keys(copy), copy.a, Object.getPrototypeOf(copy) === Object.prototype]`,
    ],
    [
      'dates',
      `const copy = structuredClone(new Date(5)); return [copy instanceof Date, copy.getTime(), isNaN(structuredClone(new Date(NaN)))]`,
    ],
    [
      'expressions',
      `const one = /a/giu; one.lastIndex = 3; const copy = structuredClone(one); return [copy instanceof RegExp, copy.source, copy.flags, copy.lastIndex]`,
    ],
    [
      'maps',
      `const copy = structuredClone(new Map([[{ a: 1 }, new Set([1, 'x'])]])); return [...copy].map(([key, value]) => [key, [...value]])`,
    ],
    [
      'objects of the primitive ones',
      `return [new Number(1), new String('a'), new Boolean(false), Object(1n)].map((value) => { const copy = structuredClone(value); return [typeof copy, copy.valueOf(), copy.constructor.name] })`,
    ],
    [
      'circles',
      `const one = { list: [] }; one.self = one; one.list.push(one); const copy = structuredClone(one); return [copy !== one, copy.self === copy, copy.list[0] === copy]`,
    ],
    [
      'a value that occurs twice',
      `const one = {}; const copy = structuredClone([one, one, new Map([[one, one]])]); return [copy[0] === copy[1], copy[2].get(copy[0]) === copy[0]]`,
    ],
    ['buffers', `const copy = structuredClone(Uint8Array.of(1, 2).buffer); return [copy instanceof ArrayBuffer, copy]`],
    [
      'views',
      `return [Int8Array, Uint8ClampedArray, Float32Array, Float64Array, BigInt64Array].map((View) => { const copy = structuredClone(new View(2)); return [copy.constructor.name, copy.length, copy] })`,
    ],
    [
      'two views of a buffer',
      `const bytes = Uint8Array.of(1, 2, 3); const [one, other] = structuredClone([bytes.subarray(1), new DataView(bytes.buffer)]); other.setUint8(1, 9); return [one, one.byteOffset, one.buffer === other.buffer]`,
    ],
    [
      'errors',
      `return [new Error('a'), new TypeError('b'), new RangeError(), new DOMException('c', 'AbortError')].map((error) => { const copy = structuredClone(error); return [copy.constructor.name, copy.name, copy.message, copy instanceof Error, typeof copy.stack] })`,
    ],
    ['causes of errors', `return structuredClone(new Error('a', { cause: { b: 1 } })).cause`],
    [
      'errors with names of their own',
      `class Mine extends Error { name = 'Mine'; extra = 1 }; const copy = structuredClone(new Mine('x')); return [copy.name, copy.message, copy.extra, copy.constructor.name]`,
    ],
    ['getters that throw', `return structuredClone({ get a() { throw new RangeError('no') } })`],
    ['nothing', `return structuredClone()`],
    [
      'and says what it cannot',
      `try { structuredClone(() => {}) } catch (error) { return [error.name, error.code, error instanceof DOMException] }`,
    ],
  ])
})
