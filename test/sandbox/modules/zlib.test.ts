import { randomBytes } from 'node:crypto'
import { crc32 as crc32OfNode, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import * as zlibOfNode from 'node:zlib'
import { expect, test } from 'vitest'
import { provide } from '#sandbox/modules/scripts/zlib.ts'
import { callRun, done, handlerThat } from '../fixture.ts'
import { sandboxOfFile } from '../prelude/compare.ts'

const sandbox = sandboxOfFile()

type Zlib = typeof zlibOfNode
/** The module, in this process: thousands of cases are compared with Node's. */
const zlib = provide({} as never, {}, () => undefined)['zlib']!() as Zlib

const pairs = [
  ['gzipSync', 'gunzipSync'],
  ['deflateSync', 'inflateSync'],
  ['deflateRawSync', 'inflateRawSync'],
  ['gzipSync', 'unzipSync'],
  ['deflateSync', 'unzipSync'],
] as const
const decoders = ['gunzipSync', 'inflateSync', 'inflateRawSync', 'unzipSync'] as const

/** Empty, repeated, random, mixed, and longer than the window of 32 KB. */
const inputs = [
  Buffer.alloc(0),
  Buffer.from('a'),
  Buffer.from('sailing '.repeat(20_000)),
  randomBytes(100_000),
  Buffer.concat([randomBytes(40_000), Buffer.alloc(70_000, 'words and more words; '), randomBytes(10)]),
  Buffer.alloc(300_000),
]

/** The result of a function, or the code and the number of its error. */
function outcome(work: () => Buffer): unknown {
  try {
    return work().toString('base64')
  } catch (error) {
    const { code, errno, message } = error as NodeJS.ErrnoException
    return { code, errno, message }
  }
}

/** The same, without the message. */
function codeOf(work: () => Buffer): unknown {
  const result = outcome(work)
  return typeof result === 'string' ? result : (result as { code: string }).code
}

function raise(error: Error): never {
  throw error
}

/** The code of a function's error, or that it has none. */
function hasCode(work: () => unknown): unknown {
  try {
    work()
    return 'done'
  } catch (error) {
    return (error as { code?: string }).code
  }
}

test.each(pairs)('%s and %s exchange data with Node, both ways', (pack, unpack) => {
  for (const input of inputs) {
    for (const level of [-1, 0, 1, 6, 9]) {
      expect(zlibOfNode[unpack](zlib[pack](input, { level })).equals(input)).toBe(true)
      expect(zlib[unpack](zlibOfNode[pack](input, { level })).equals(input)).toBe(true)
    }
    for (const options of [
      { level: undefined },
      { strategy: constants.Z_FIXED },
      { windowBits: 9, memLevel: 1 },
      { chunkSize: 64 },
    ]) {
      expect(zlibOfNode[unpack](zlib[pack](input, options)).equals(input)).toBe(true)
      expect(zlib[unpack](zlibOfNode[pack](input, options), options).equals(input)).toBe(true)
    }
  }
})

test('data that are cut off anywhere fail as in Node, or are returned so far where that is wanted', () => {
  const text = 'abc abd é '.repeat(6)
  for (const [pack, unpack] of pairs) {
    for (const options of [{ level: 0 }, { strategy: 4 }, { level: 9 }]) {
      const packed = zlibOfNode[pack](text, options)
      for (let end = 0; end < packed.length; end += 1) {
        const part = packed.subarray(0, end)
        expect(outcome(() => zlib[unpack](part))).toEqual(outcome(() => zlibOfNode[unpack](part)))
        const early = { finishFlush: constants.Z_SYNC_FLUSH }
        expect(outcome(() => zlib[unpack](part, early))).toEqual(outcome(() => zlibOfNode[unpack](part, early)))
      }
    }
  }
})

test('data with a changed byte fail as in Node, or decode to the same', () => {
  for (const [pack, unpack] of pairs) {
    const packed = zlibOfNode[pack]('some text, some more text, and some more text again')
    for (let at = 0; at < packed.length; at += 1) {
      for (const change of [1, 0x80, 0xff]) {
        const changed = Buffer.from(packed)
        changed[at]! ^= change
        const [ours, nodes] = [outcome(() => zlib[unpack](changed)), outcome(() => zlibOfNode[unpack](changed))]
        expect([unpack, at, change, ours]).toEqual([unpack, at, change, nodes])
      }
    }
  }
})

test('bytes that are no compressed data fail as in Node', () => {
  for (let turn = 0; turn < 600; turn += 1) {
    const bytes = randomBytes(1 + (turn % 200))
    for (const name of decoders) {
      expect([name, bytes, outcome(() => zlib[name](bytes))]).toEqual([
        name,
        bytes,
        outcome(() => zlibOfNode[name](bytes)),
      ])
    }
  }
})

test('what follows the data is a member, padding, a fault or ignored, as in Node', () => {
  const [first, second] = [gzipSync('first '), gzipSync('second')]
  const tails = [
    second,
    Buffer.alloc(9),
    Buffer.from([0, 1, 2]),
    Buffer.from([31, 139, 255, 255]),
    Buffer.from('PPPPPPPPPP'),
  ]
  for (const tail of [...tails, Buffer.from([31]), Buffer.from('P'), Buffer.concat([second, first])]) {
    for (const name of ['gunzipSync', 'unzipSync'] as const) {
      const all = Buffer.concat([first, tail])
      expect(outcome(() => zlib[name](all))).toEqual(outcome(() => zlibOfNode[name](all)))
    }
    for (const [pack, unpack] of [
      [deflateSync, 'inflateSync'],
      [deflateRawSync, 'inflateRawSync'],
    ] as const) {
      expect(zlib[unpack](Buffer.concat([pack('a'), tail])).toString()).toBe('a')
    }
  }
})

test('headers of gzip with names, comments, extra fields and checksums are read', () => {
  const plain = gzipSync('text')
  const fields = Buffer.concat([
    Buffer.from([31, 139, 8, 30, 0, 0, 0, 0, 0, 3, 2, 0, 7, 7]),
    Buffer.from('name\0comment\0'),
  ])
  const checksum = Buffer.alloc(2)
  checksum.writeUInt16LE(crc32OfNode(fields) & 0xff_ff)
  const whole = Buffer.concat([fields, checksum, plain.subarray(10)])
  expect(zlib.gunzipSync(whole).toString()).toBe('text')
  const changed = Buffer.concat([fields, Buffer.from([checksum[0]! ^ 1, checksum[1]!]), plain.subarray(10)])
  expect(outcome(() => zlib.gunzipSync(changed))).toEqual(outcome(() => zlibOfNode.gunzipSync(changed)))
})

test('dictionaries are those of Node', () => {
  const dictionary = Buffer.from('words that come often')
  for (const [pack, unpack] of pairs.slice(1, 3)) {
    const text = 'words that come often come often'
    expect(zlibOfNode[unpack](zlib[pack](text, { dictionary }), { dictionary }).toString()).toBe(text)
    const packed = zlibOfNode[pack](text, { dictionary })
    expect(zlib[unpack](packed, { dictionary }).toString()).toBe(text)
    if (unpack === 'inflateRawSync') continue
    for (const options of [{}, { dictionary: Buffer.from('others') }]) {
      expect(outcome(() => zlib[unpack](packed, options))).toEqual(outcome(() => zlibOfNode[unpack](packed, options)))
    }
  }
})

test('the output has at most as many bytes as are wanted', () => {
  const packed = gzipSync(Buffer.alloc(10_000_000))
  for (const maxOutputLength of [1, 100, 9_999_999]) {
    const failed = outcome(() => zlib.gunzipSync(packed, { maxOutputLength }))
    expect(failed).toEqual(outcome(() => zlibOfNode.gunzipSync(packed, { maxOutputLength })))
  }
  expect(zlib.gunzipSync(gzipSync('exact'), { maxOutputLength: 5 }).toString()).toBe('exact')
})

test('wrong arguments are refused with the codes of Node', () => {
  const wrong: ((of: Zlib) => Buffer)[] = [
    (of) => of.gzipSync(1 as never),
    (of) => of.gunzipSync(undefined as never),
    (of) => of.gzipSync('a', { level: 10 }),
    (of) => of.gzipSync('a', { level: '1' as never }),
    (of) => of.gzipSync('a', { windowBits: 99 }),
    (of) => of.gunzipSync('a', { maxOutputLength: 0 }),
    (of) => of.gzipSync('a', { memLevel: 10 }),
    (of) => of.gzipSync('a', { strategy: 5 }),
    (of) => of.gunzipSync('a', { chunkSize: 63 }),
    (of) => of.gzip('a', undefined as never) as never,
  ]
  for (const call of wrong) expect(codeOf(() => call(zlib))).toEqual(codeOf(() => call(zlibOfNode)))
})

test('an option of any value has the outcome of Node', () => {
  const words = Buffer.from('some words, and some more words')
  const values = [undefined, null, NaN, Infinity, -Infinity, 0, 1, 1.5, 7, 8, 9, 15.9, 16, 63, 64, -1, -2, 2 ** 40, '1']
  const names = ['level', 'windowBits', 'memLevel', 'strategy', 'chunkSize', 'flush', 'finishFlush', 'maxOutputLength']
  const given = [undefined, null, 5, 'text', ...[...values, true, {}, 5n, Buffer.from('d')].flatMap(optionsOf)]
  function optionsOf(value: unknown): object[] {
    return [...names, 'dictionary'].map((name) => ({ [name]: value }))
  }
  // Node would allocate it.
  const possible = given.filter((options) => Number((options as { chunkSize?: unknown })?.chunkSize ?? 0) < 2 ** 31)
  expect(possible.length).toBeGreaterThan(200)
  for (const options of possible as never[]) {
    for (const [pack, unpack] of pairs) {
      const packed = zlibOfNode[pack](words)
      const show = (of: Zlib) => [unpack, options, codeOf(() => of[unpack](packed, options))]
      expect(show(zlib)).toEqual(show(zlibOfNode))
      const isPacked = (of: Zlib) => [pack, options, hasCode(() => of[pack](words, options))]
      expect(isPacked(zlib)).toEqual(isPacked(zlibOfNode))
    }
  }
})

test('wrong arguments of functions with a callback, of checksums and of transferred views fail as in Node', () => {
  const moved = new Uint8Array(10)
  structuredClone(moved.buffer, { transfer: [moved.buffer] })
  const calls: ((of: Zlib) => unknown)[] = [
    (of) => of.gzip('a', { level: 99 }, () => {}),
    (of) => of.gzip(5 as never, () => {}),
    (of) => of.gzip('a', {}, {} as never),
    (of) => of.crc32(new ArrayBuffer(3) as never),
    ...[-1, 1.5, NaN, 2 ** 32, '5', null].map((start) => (of: Zlib) => of.crc32('a', start as never)),
    (of) => of.gunzipSync(moved),
  ]
  for (const call of calls) expect(hasCode(() => call(zlib))).toEqual(hasCode(() => call(zlibOfNode)))
  expect(hasCode(() => zlib.gzipSync('a', { info: true }))).toBe('ERR_METHOD_NOT_IMPLEMENTED')
})

test('crc32 continues a checksum', () => {
  const bytes = randomBytes(5000)
  expect(zlib.crc32(bytes)).toBe(crc32OfNode(bytes))
  expect(zlib.crc32(bytes.subarray(7), zlib.crc32(bytes.subarray(0, 7)))).toBe(crc32OfNode(bytes))
  expect(zlib.crc32('héllo', 7)).toBe(crc32OfNode('héllo', 7))
})

/** The result of a handler with this body in an isolate. */
async function told(body: string): Promise<unknown> {
  const code = `const zlib = require('zlib'); const { once } = require('events'); const { Readable } = require('stream')
    const value = await (async () => { ${body} })()
    return { body: JSON.stringify({ value }) }`
  const run = callRun(handlerThat(code), {}, { limits: { cpuMilliseconds: 20_000 } })
  const { result } = done(await sandbox().run(run))
  return (JSON.parse((result as { body: string }).body) as { value?: unknown }).value
}

const collect = `const collect = async (stream) => { const parts = []; for await (const part of stream) parts.push(part); return Buffer.concat(parts) }
  const chunks = (bytes, size) => Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size))`

test('streams in an isolate pack what Node unpacks, in chunks of any size', async () => {
  const packed = (await told(`${collect}
    const input = Buffer.from('sailing, '.repeat(2000))
    const results = []
    for (const name of ['Gzip', 'Deflate', 'DeflateRaw']) for (const size of [7, 1000, 100_000]) {
      const bytes = await collect(Readable.from(chunks(input, size)).pipe(zlib['create' + name]()))
      results.push([name, bytes.toString('base64')])
    }
    return results`)) as ['Gzip' | 'Deflate' | 'DeflateRaw', string][]
  const unpack = { Gzip: 'gunzipSync', Deflate: 'inflateSync', DeflateRaw: 'inflateRawSync' } as const
  expect(packed).toHaveLength(9)
  for (const [name, bytes] of packed) {
    expect(zlibOfNode[unpack[name]](Buffer.from(bytes, 'base64')).toString()).toBe('sailing, '.repeat(2000))
  }
})

test('streams in an isolate unpack in chunks of any size, and fail as in Node', async () => {
  const two = Buffer.concat([gzipSync('first '), gzipSync('second')])
  const answer = await told(`${collect}
    const two = Buffer.from('${two.toString('base64')}', 'base64')
    const results = []
    for (const name of ['Gunzip', 'Unzip']) for (const size of [1, 3, 20, 1000]) {
      results.push(String(await collect(Readable.from(chunks(two, size)).pipe(zlib['create' + name]()))))
    }
    for (const bytes of [two.subarray(0, 30), Buffer.from('no gzip at all')]) {
      results.push(await collect(Readable.from([bytes]).pipe(zlib.createGunzip())).catch((error) => [error.code, error.errno]))
    }
    results.push(String(await collect(Readable.from([two.subarray(0, 50)]).pipe(zlib.Gunzip({ finishFlush: zlib.constants.Z_SYNC_FLUSH })))))
    return results`)
  const faults = [['Z_BUF_ERROR', -5], ['Z_DATA_ERROR', -3], expect.stringMatching(/^first /)]
  expect(answer).toEqual([...Array.from({ length: 8 }, () => 'first second'), ...faults])
})

/** Random numbers that are the same in each run. */
function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) & 0x7f_ff_ff_ff
    return (state >> 8) % below
  }
}

test('streams that are written and flushed at random have the content and the faults of Node', async () => {
  const text = Buffer.alloc(60_000, 'words, more words and others; ')
  const unpack = { Gzip: 'gunzipSync', Deflate: 'inflateSync', DeflateRaw: 'inflateRawSync' } as const
  const packed = { Gunzip: gzipSync(text), Inflate: deflateSync(text), InflateRaw: deflateRawSync(text) }
  const names = ['Gzip', 'Deflate', 'DeflateRaw', 'Gunzip', 'Inflate', 'InflateRaw', 'Unzip'] as const

  async function play(of: Zlib, seed: number): Promise<unknown> {
    const random = randomOf(seed)
    const name = names[random(7)]!
    const whole = Object.hasOwn(unpack, name) ? text : packed[name === 'Unzip' ? 'Inflate' : (name as 'Gunzip')]
    const changed = Buffer.from(whole)
    if (random(3) === 0) changed[random(changed.length)]! ^= 1 + random(255)
    const input = [whole, Buffer.concat([whole, whole]), whole.subarray(0, -1 - random(9)), changed][random(4)]!
    const options = [{}, { chunkSize: 64 }, { flush: 2 }, { finishFlush: 2 }, { level: 0 }, { windowBits: 15 }][
      random(6)
    ]!
    const stream = of[`create${name}`](options)
    const parts: Buffer[] = []
    let fault = ''
    stream
      .on('data', (part: Buffer) => parts.push(part))
      .on('error', (error) => (fault = codeOf(() => raise(error)) as string))
    for (let at = 0; at < input.length;) {
      const size = [1, 5, 100, 5000, 40_000][random(5)]!
      stream.write(input.subarray(at, at + size))
      at += size
      if (random(4) === 0) stream.flush([0, 2, 3][random(3)])
      if (random(3) === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    stream.end()
    await new Promise((resolve) => stream.once('close', resolve))
    const made = Buffer.concat(parts)
    const isPacked = Object.hasOwn(unpack, name) && fault === ''
    // With an early end, what was made is not complete.
    const content = isPacked ? zlibOfNode[unpack[name as 'Gzip']](made, { finishFlush: 2 }) : fault === '' ? made : ''
    return [seed, name, options, fault, content.toString('latin1').length, crc32OfNode(content)]
  }

  for (let seed = 1; seed <= 150; seed += 1) expect(await play(zlib, seed)).toEqual(await play(zlibOfNode, seed))
})

test('a flush in an isolate makes the data so far decodable, and functions with a callback can be promised', async () => {
  const answer = await told(`
    const { promisify } = require('util')
    const stream = zlib.createDeflateRaw()
    const parts = []
    stream.on('data', (part) => parts.push(part))
    stream.write('one ')
    await new Promise((resolve) => stream.flush(resolve))
    const first = zlib.inflateRawSync(Buffer.concat(parts), { finishFlush: zlib.constants.Z_SYNC_FLUSH })
    stream.end('two')
    await once(stream, 'end')
    const promised = await promisify(zlib.gunzip)(await promisify(zlib.gzip)('three', { level: 9 }))
    const failed = await promisify(zlib.inflate)('nothing').catch((error) => error.code)
    return [first, zlib.inflateRawSync(Buffer.concat(parts)), promised].map(String).concat(failed, stream.bytesWritten, stream instanceof zlib.DeflateRaw)`)
  expect(answer).toEqual(['one ', 'one two', 'three', 'Z_DATA_ERROR', 7, true])
})

test('a reader in an isolate stops a stream before little input has become very much', async () => {
  const bomb = gzipSync(Buffer.alloc(60_000_000)).toString('base64')
  const code = `const { Readable } = require('stream')
    let bytes = 0
    for await (const part of Readable.from([Buffer.from('${bomb}', 'base64')]).pipe(require('zlib').createGunzip())) {
      bytes += part.length
      if (bytes > 1_000_000) break
    }
    return { body: String(bytes) }`
  const limits = { memoryMegabytes: 32, cpuMilliseconds: 1000 }
  const { result } = done(await sandbox().run(callRun(handlerThat(code), {}, { limits })))
  expect(Number((result as { body: string }).body)).toBeLessThan(1_100_000)
})

test('a decompression without a bound ends at the memory of its isolate', async () => {
  const bomb = gzipSync(Buffer.alloc(300_000_000)).toString('base64')
  const code = `return { body: String(require('zlib').gunzipSync(Buffer.from('${bomb}', 'base64')).length) }`
  const limits = { memoryMegabytes: 32, cpuMilliseconds: 30_000, wallMilliseconds: 60_000 }
  const ended = await sandbox().run(callRun(handlerThat(code), {}, { limits }))
  // One of the two counts of memory is full first.
  const message = expect.stringMatching(/^Array buffer allocation failed$|more than its 32 MB of memory/)
  expect(ended).toMatchObject({ status: 'failed', error: { message } })
  expect(await told('return String(zlib.gunzipSync(zlib.gzipSync("after")))')).toBe('after')
}, 90_000)
