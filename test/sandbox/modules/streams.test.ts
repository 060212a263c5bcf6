import { describe } from 'vitest'
import { sandboxOfFile, testAsInNode } from '../prelude/compare.ts'

const sandbox = sandboxOfFile()

const modules = `
  const stream = require('stream')
  const { Duplex, Readable, Writable } = stream
  const promises = require('stream/promises')
  const consumers = require('stream/consumers')
  const bytes = (text) => new TextEncoder().encode(text)
  const upper = () => new TransformStream({ transform: (chunk, to) => to.enqueue(String(chunk).toUpperCase()) })
  const codeOf = async (work) => { try { return await work() } catch (error) { return [error.name, error.code] } }
`

describe('streams of Node and of the web pass their data to each other as in Node', () => {
  testAsInNode(
    sandbox,
    [
      ['a body, read', `return consumers.text(Readable.fromWeb(new Response('a body').body))`],
      [
        'a source that fails',
        `const web = new ReadableStream({ pull: () => { throw new Error('cut') } }); return promises.finished(Readable.fromWeb(web).resume()).catch((error) => error.message)`,
      ],
      [
        'a source whose reader stops',
        `let why = 'none'; const web = new ReadableStream({ pull: (to) => to.enqueue(bytes('a')), cancel: (reason) => { why = String(reason) } }); for await (const chunk of Readable.fromWeb(web)) break; return [why, web.locked]`,
      ],
      [
        'a Readable, as a body',
        `return new Response(Readable.toWeb(Readable.from([Buffer.from('a'), Buffer.from('ü')], { objectMode: false }))).text()`,
      ],
      [
        'a Readable of objects',
        `const seen = []; for await (const value of Readable.toWeb(Readable.from([1, { a: 2 }]))) seen.push(value); return seen`,
      ],
      [
        'a Readable that fails or is cancelled',
        `const failing = Readable.toWeb(new Readable({ read() { this.destroy(new Error('cut')) } })); const endless = new Readable({ read() { this.push('a') } }); endless.on('error', () => {}); await Readable.toWeb(endless).cancel('enough'); return [await failing.getReader().read().catch((error) => error.message), endless.destroyed]`,
      ],
      [
        'a target of the web',
        `const seen = []; let isClosed = false; const target = Writable.fromWeb(new WritableStream({ write: (chunk) => void seen.push(String(chunk)), close: () => { isClosed = true } })); target.write('a'); target.end('b'); await promises.finished(target); return [seen, isClosed]`,
      ],
      [
        'a target of Node, slowly',
        `const seen = []; const target = new Writable({ highWaterMark: 1, write(chunk, encoding, done) { seen.push(String(chunk)); setTimeout(done) } }); const writer = Writable.toWeb(target).getWriter(); for (const text of ['a', 'b', 'c']) await writer.write(bytes(text)); await writer.close(); return [seen, target.writableFinished]`,
      ],
      [
        'a transformation of the web as a Duplex, and back',
        `const duplex = Duplex.fromWeb(upper(), { encoding: 'utf8' }); duplex.end('a'); const { readable, writable } = Duplex.toWeb(new stream.PassThrough()); const writer = writable.getWriter(); void writer.write(bytes('b')); void writer.close(); return [await consumers.text(duplex), await new Response(readable).text()]`,
      ],
      [
        'a pipeline with both kinds',
        `const seen = []; await promises.pipeline(new Response('abc').body.pipeThrough(new TextDecoderStream()), upper(), async function* (source) { for await (const chunk of source) yield chunk + '!' }, new Writable({ write(chunk, encoding, done) { seen.push(String(chunk)); done() } })); return seen`,
      ],
      [
        'a pipeline with a callback, into a target of the web',
        `const seen = []; return new Promise((resolve) => stream.pipeline(Readable.from(['a', 'b']), new WritableStream({ write: (chunk) => void seen.push(String(chunk)) }), (error) => resolve([String(error), seen])))`,
      ],
      [
        'values that are no streams',
        `return Promise.all([() => Readable.fromWeb({}), () => Writable.fromWeb(1), () => Duplex.fromWeb({}), () => Readable.toWeb(undefined)].map((work) => codeOf(async () => work())))`,
      ],
    ].map(([title, body]) => [title!, `${modules}\n${body}`] as const),
    'sdk',
  )
})

describe('streams have what those of Node 24 have', () => {
  testAsInNode(
    sandbox,
    [
      [
        'pairs',
        `const [one, other] = stream.duplexPair(); one.end('to the other'); other.end('to the one'); return Promise.all([consumers.text(one), consumers.text(other)])`,
      ],
      [
        'targets at the end of a block',
        `const target = new Writable({ write: () => {} }); { await using inner = target } return target.destroyed`,
      ],
      [
        'chunks that are any view of bytes',
        `const seen = []; const target = new Writable({ write(chunk, encoding, done) { seen.push([Buffer.isBuffer(chunk), String(chunk)]); done() } }); target.write(new Int8Array([97, 98])); target.write(new DataView(bytes('cd').buffer)); return seen`,
      ],
      [
        'consumers of any chunks',
        `const source = () => Readable.from([new DataView(bytes('a').buffer), bytes('b').buffer, 'c']); return [String(await consumers.buffer(source())), (await consumers.arrayBuffer(source())).byteLength]`,
      ],
    ].map(([title, body]) => [title!, `${modules}\n${body}`] as const),
    'sdk',
  )
})
